#!/usr/bin/env bash
# PostgreSQL 18.6 (PGlite 0.5.16; a server of version 15 does the same): one `with` of several inserts.
# One would guess: they run in the order in which they are written, or in none.
# Seen: parts that nothing reads run backwards, the last one first. Parts that return rows run in the order in which the query reads
# them. So who needs an order of locks lets every part return a row, and reads them all in that order.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . @electric-sql/pglite@0.5.16 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'

const database = new PGlite()
await database.exec('create table steps (id int generated always as identity, name text)')
const part = (name, end) => `${name} as (insert into steps (name) values ('${name}') ${end})`
const orderOf = async (query) => {
  await database.exec('truncate steps restart identity')
  await database.query(query)
  const { rows } = await database.query('select name from steps order by id')
  return rows.map(({ name }) => name).join(' ')
}
const names = ['a', 'b', 'c']
console.log('not read:', await orderOf(`with ${names.map((name) => part(name, '')).join(', ')} select 1`))
const read = `with ${names.map((name) => part(name, 'returning 1')).join(', ')} select * from`
console.log('read as b, c, a:', await orderOf(`${read} ${['b', 'c', 'a'].join(' union all select * from ')}`))
JS
node run.mjs | tee out.txt
diff out.txt - <<'TEXT'
not read: c b a
read as b, c, a: b c a
TEXT
