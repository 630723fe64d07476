#!/usr/bin/env bash
# Knex 3.3.0 with its client `pg` (pg 8.23.1): `knex.raw(text)` without bindings, where a quoted text has a question mark.
# One would guess: without bindings the text is sent as it is, or the mark is refused, as it is where there are bindings.
# Seen: the mark becomes `$1` within the quotation marks, where PostgreSQL reads no placeholder. There is no error: `really?` is
# stored as `really$1`. With `\\?`, or with an empty list of bindings, which is refused, nothing is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . \
  knex@3.3.0 pg@8.23.1 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import Knex from 'knex'

const server = new PGLiteSocketServer({ db: await PGlite.create(), host: '127.0.0.1', port: 0 })
const listening = new Promise((resolve) => server.addEventListener('listening', ({ detail }) => resolve(detail.port)))
await server.start()
const knex = Knex({ client: 'pg', connection: { host: '127.0.0.1', port: await listening, user: 'postgres', database: 'postgres' } })
await knex.raw('create table notes (text text)')
await knex.raw("insert into notes values ('really?')")
const refused = await knex.raw("insert into notes values ('really?')", []).catch((error) => error.message)
const [{ text }] = await knex('notes')
console.log(`stored: ${text}; with an empty list: ${refused}`)
await knex.destroy()
await server.stop()
process.exit(text === 'really$1' && refused === 'Expected 0 bindings, saw 1' ? 0 : 1)
JS
node run.mjs
