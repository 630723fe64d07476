#!/usr/bin/env bash
# PostgreSQL 18 (PGlite 0.5.14): a function that is created with `set search_path from current` by a
# role whose tables are in the schema with its own name.
# One would guess: whoever calls the function, it reads the tables that its creator saw.
# Seen: the value is kept as it is written, `"$user", public`, and `$user` is who calls. Another role with a schema of its own reads the
# table of the same name there, without an error; one without such a table gets 42P01. `current_schemas(false)` has the names.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . @electric-sql/pglite@0.5.14 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'

const database = new PGlite()
await database.exec('set search_path to "$user", public') // the default of a server
const as = (role, text) => database.exec(`set role ${role}; ${text}`)
for (const role of ['mia', 'sam']) {
  await database.exec(`create role ${role}; create schema authorization ${role}; grant ${role} to current_user`)
  await as(role, `create table notes (text text); insert into notes values ('of ${role}'); reset role`)
}
await as('mia', `create function note() returns text language plpgsql set search_path from current as
  $$ begin return (select text from notes); end $$; grant usage on schema mia to sam; grant select on notes to sam; reset role`)
const callBy = async (role) => (await as(role, 'select mia.note() as note')).at(-1).rows[0].note
const [byMia, bySam] = [await callBy('mia'), await callBy('sam')]
console.log(`called by mia: ${byMia}; by sam: ${bySam}`)
process.exit(byMia === 'of mia' && bySam === 'of sam' ? 0 : 1)
JS
node run.mjs
