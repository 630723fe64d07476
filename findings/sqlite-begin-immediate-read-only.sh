#!/usr/bin/env bash
# SQLite 3.53.4 (seen with node-sqlite3-wasm 0.8.60; better-sqlite3 12.11.1 does the same): BEGIN IMMEDIATE on a database that
# cannot be written.
# One would guess: it asks for the write lock, so it fails with SQLITE_READONLY. A program that wants to know whether it may
# write a file would try BEGIN IMMEDIATE and roll back.
# Seen: it fails only if the connection has not read the database before. After a SELECT it succeeds, as a read transaction, and
# the first statement that writes fails.
# The database is made read-only by its header: a write version above 2 means that, for every user.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . node-sqlite3-wasm@0.8.60 >/dev/null
cat >run.cjs <<'JS'
const { readFileSync, writeFileSync } = require('node:fs')
const { Database } = require('node-sqlite3-wasm')

const made = new Database('a.db')
made.exec('create table t (id integer)')
made.close()
const bytes = readFileSync('a.db')
bytes[18] = 3
writeFileSync('a.db', bytes)

const database = new Database('a.db')
const outcome = (sql) => {
  try {
    database.exec(sql)
    return 'ok'
  } catch (error) {
    return error.message
  }
}
const statements = ['begin immediate', 'select * from t', 'begin immediate', 'insert into t values (1)', 'rollback']
const found = statements.map((sql) => `${sql}: ${outcome(sql)}`)
console.log(`SQLite ${database.get('select sqlite_version() as version').version}\n${found.join('\n')}`)
process.exitCode = /^begin .*readonly database\nselect .*: ok\nbegin immediate: ok\ninsert .*readonly database\nrollback: ok$/.test(found.join('\n')) ? 0 : 1
JS
node run.cjs
