#!/usr/bin/env bash
# drizzle-kit 0.31.11 and drizzle-orm 0.45.4 on SQLite (sql.js 1.13.0; better-sqlite3 12.11.1 does the same), with foreign keys switched
# on: a migration that `drizzle-kit generate` wrote, run by `migrate`. It makes a column of a table not null, to which another table
# refers with `onDelete: 'cascade'`.
# One would guess: the rows stay, because the migration begins with `PRAGMA foreign_keys=OFF`.
# Seen: `migrate` runs it in a transaction, where SQLite ignores that pragma. So `DROP TABLE` deletes the rows that refer to the
# table, without an error. The same file, run by SQLite itself, keeps them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . drizzle-kit@0.31.11 drizzle-orm@0.45.4 sql.js@1.13.0 >/dev/null
cat >model.ts <<'TS'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const authors = sqliteTable('authors', { id: integer().primaryKey(), name: text() })
const author = integer().references(() => authors.id, { onDelete: 'cascade' })
export const books = sqliteTable('books', { id: integer().primaryKey(), author })
TS
generate() { npx drizzle-kit generate --dialect sqlite --schema model.ts --out "$1" --name "$2" >/dev/null 2>&1; }
generate migrations create
cp -r migrations first
sed -i 's/name: text()/name: text().notNull()/' model.ts
generate migrations change
cat >run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/sql-js'
import { migrate } from 'drizzle-orm/sql-js/migrator'
import initSqlJs from 'sql.js'

const SQL = await initSqlJs()
function booksAfter(change) {
  const database = new SQL.Database()
  database.run('pragma foreign_keys = on')
  migrate(drizzle(database), { migrationsFolder: 'first' })
  database.run("insert into authors values (1, 'Mia'); insert into books values (1, 1)")
  change(database)
  return database.exec('select count(*) from books')[0].values[0][0]
}
const migrated = booksAfter((database) => migrate(drizzle(database), { migrationsFolder: 'migrations' }))
const byItself = booksAfter((database) => database.exec(readFileSync('migrations/0001_change.sql', 'utf8')))
console.log(`books left of one: ${migrated}; run by SQLite itself: ${byItself}`)
process.exitCode = migrated === 0 && byItself === 1 ? 0 : 1
JS
node run.mjs
