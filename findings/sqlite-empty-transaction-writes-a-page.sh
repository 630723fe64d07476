#!/usr/bin/env bash
# SQLite (seen with node-sqlite3-wasm 0.8.60; better-sqlite3 12.11.1 and better-sqlite3-multiple-ciphers 12.11.1 do the same):
# a transaction without a statement, on an empty file.
# One would guess: BEGIN IMMEDIATE; COMMIT changes nothing, so the file stays empty.
# Seen: it writes the first page. The file has 4,096 bytes then, and with a driver that has keys it is encrypted from then on,
# although no table was created.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . node-sqlite3-wasm@0.8.60 >/dev/null
cat >run.cjs <<'JS'
const { statSync } = require('node:fs')
const { Database } = require('node-sqlite3-wasm')

const database = new Database('a.db')
const sizes = [statSync('a.db').size]
for (const sql of ['begin; commit', 'begin immediate; rollback', 'begin immediate; commit']) {
  database.exec(sql)
  sizes.push(statSync('a.db').size)
}
console.log(`the file has ${sizes.join(', then ')} bytes`)
process.exitCode = sizes.join() === '0,0,0,4096' ? 0 : 1
JS
node run.cjs
