#!/usr/bin/env bash
# workerd 1.20260426.1 (Miniflare 4.20260426.0), the SQLite of a Durable Object: pragma_table_info() of NULL.
# One would guess: it has no rows, as in SQLite, where `pragma_table_info(case type when 'table' then name end)` beside sqlite_master
# leaves out the columns of what is no table.
# Seen: "not authorized: SQLITE_AUTH". What is NULL is known only while the statement runs, so it works as long as an object has nothing
# but tables, and fails from its first view or index on: at the second start of a program that looks before it creates.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . miniflare@4.20260426.0 node-sqlite3-wasm@0.8.60 >/dev/null
cat >ask.mjs <<'JS'
import { Miniflare } from 'miniflare'
import sqlite from 'node-sqlite3-wasm'

const columns = `select m.name as "table", c.name as "column" from sqlite_master as m
  left join pragma_table_info(case m.type when 'table' then m.name end) as c where m.name in ('users', 'names')`
const [table, view] = ['create table users (id integer)', 'create view names as select id from users']

const database = new sqlite.Database()
database.exec(table)
database.exec(view)
const elsewhere = JSON.stringify(database.all(columns))
database.close()

const script = `import { DurableObject } from 'cloudflare:workers'
export class Shop extends DurableObject {
  fetch() {
    const { sql } = this.ctx.storage
    const answer = () => {
      try { return sql.exec(${JSON.stringify(columns)}).toArray() } catch (error) { return String(error) }
    }
    sql.exec(${JSON.stringify(table)})
    const before = answer()
    sql.exec(${JSON.stringify(view)})
    return Response.json({ before, after: answer() })
  }
}
export default { fetch: (request, env) => env.SHOP.get(env.SHOP.idFromName('a')).fetch(request) }`
const worker = new Miniflare({
  modules: true,
  script,
  compatibilityDate: '2026-01-01',
  durableObjects: { SHOP: { className: 'Shop', useSQLite: true } },
  cf: false,
})
const { before, after } = await (await worker.dispatchFetch('http://example.com/')).json()
await worker.dispose()
console.log(`SQLite, with a view: ${elsewhere}`)
console.log(`workerd, with a table alone: ${JSON.stringify(before)}`)
console.log(`workerd, with a view: ${JSON.stringify(after)}`)
const isAsSeen = elsewhere.includes('"names"') && before.length === 1 && String(after).includes('SQLITE_AUTH')
process.exit(isAsSeen ? 0 : 1)
JS
node ask.mjs
