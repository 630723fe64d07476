#!/usr/bin/env bash
# drizzle-kit 0.31.11, `pushSchema` of `drizzle-kit/api` on PostgreSQL (PGlite 0.5.16; a server does the same), with which Payload 3.90.2
# brings a database up to date in development.
# One would guess: it plans what `drizzle-kit push` plans, whatever other tables the database has.
# Seen: as soon as one of them, also of another program, has a primary key of two columns, it sends a query of its own without the
# parameters, which PostgreSQL refuses: "bind message supplies 0 parameters", or over pg "there is no parameter $1". Then it ends the
# process of the caller, with exit code 1 and no message. Beside a table with one column in its key, or in a schema that is not read,
# it works.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts --prefix . \
  drizzle-kit@0.31.11 drizzle-orm@0.45.4 @electric-sql/pglite@0.5.16 >/dev/null
cat >run.mjs <<'JS'
import { createRequire } from 'node:module'
import { PGlite } from '@electric-sql/pglite'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pglite'

const { pushSchema } = createRequire(import.meta.url)('drizzle-kit/api')
const client = await PGlite.create()
await client.exec(`create table users (id integer primary key); ${process.argv[2]}`)
const query = client.query.bind(client)
client.query = (...given) => query(...given).catch((error) => {
  console.log(error.message)
  throw error
})
const users = pgTable('users', { id: integer().primaryKey(), name: text() })
const { statementsToExecute } = await pushSchema({ users }, drizzle(client))
console.log(statementsToExecute.find((text) => text.includes('ADD COLUMN "name"')) ? 'planned' : 'no plan')
process.exit(0)
JS
# Prints how a push ends beside what a statement has created.
beside() {
  local code=0
  node run.mjs "$1" >out.txt 2>&1 || code=$?
  printf '%s ' "$code"
  grep -om1 -e 'planned' -e "supplies 0 parameters" out.txt || echo 'nothing'
}
one=$(beside 'create table others (a integer primary key, b integer)')
two=$(beside 'create table others (a integer, b integer, primary key (a, b))')
elsewhere=$(beside 'create schema other; create table other.others (a integer, b integer, primary key (a, b))')
echo "one column: $one; two columns: $two; in another schema: $elsewhere"
[[ $one == '0 planned' && $two == '1 supplies 0 parameters' && $elsewhere == '0 planned' ]]
