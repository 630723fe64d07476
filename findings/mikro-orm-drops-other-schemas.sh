#!/usr/bin/env bash
# MikroORM 7.2.1, `schema.update()` on PostgreSQL (PGlite 0.5.14 behind its socket 0.2.17; a server does the same), where another program
# has a schema of its own, which no entity and no option names.
# One would guess: it compares the schemas of the entities, so that the other one stays.
# Seen: it drops every table there, and then the schema. `schemaGenerator: { ignoreSchema: ['others'] }` keeps it; `schema: 'public'` does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . \
  @mikro-orm/core@7.2.1 @mikro-orm/postgresql@7.2.1 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { EntitySchema, MikroORM } from '@mikro-orm/postgresql'

const database = await PGlite.create()
await database.exec('create table users (id serial primary key); create schema others; create table others.things (id int)')
const properties = { id: { type: 'integer', primary: true, autoincrement: true } }
const entities = [new EntitySchema({ name: 'User', tableName: 'users', properties })]
const plans = []
for (const options of [{}, { schema: 'public' }, { schemaGenerator: { ignoreSchema: ['others'] } }]) {
  const server = new PGLiteSocketServer({ db: database, port: 0, host: '127.0.0.1' }) // takes one connection
  await server.start()
  const [, port] = server.getServerConn().split(':')
  const clientUrl = `postgres://postgres@127.0.0.1:${port}/postgres`
  const orm = await MikroORM.init({ entities, clientUrl, driverOptions: { ssl: false }, ...options })
  const plan = await orm.schema.getUpdateSchemaSQL()
  plans.push(plan.match(/^drop .*$/gm)?.join(' ') ?? 'nothing is dropped')
  console.log(JSON.stringify(options), plans.at(-1))
  await orm.close()
  await server.stop()
}
await database.close()
const drops = 'drop table if exists "others"."things" cascade; drop schema if exists "others";'
process.exitCode = plans.join() === [drops, drops, 'nothing is dropped'].join() ? 0 : 1
JS
timeout 60 node run.mjs
