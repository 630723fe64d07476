#!/usr/bin/env bash
# postgres.js (postgres 3.4.9), on a pool that was ended, before a server of @electric-sql/pglite-socket.
# One would guess: behind sql.end() everything is refused with CONNECTION_ENDED, as a query and sql.begin are.
# Seen: sql.reserve() opens a new connection, which answers. It also keeps the process alive until it is closed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . \
  postgres@3.4.9 @electric-sql/pglite@0.3.14 @electric-sql/pglite-socket@0.0.19 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import postgres from 'postgres'

const server = new PGLiteSocketServer({ db: await PGlite.create(), host: '127.0.0.1', port: 0 })
const listening = new Promise((resolve) => server.addEventListener('listening', ({ detail }) => resolve(detail.port)))
await server.start()
const sql = postgres({ host: '127.0.0.1', port: await listening, user: 'postgres', database: 'postgres', max: 1, onnotice: () => {} })
await sql`select 1`
await sql.end()

const answer = (work) => work().then(() => 'answered', ({ code }) => code)
const seen = [
  await answer(() => sql`select 1`),
  await answer(() => sql.begin((transaction) => transaction`select 1`)),
  await answer(async () => (await sql.reserve())`select 1`),
]
console.log(`a query: ${seen[0]}; begin: ${seen[1]}; reserve: ${seen[2]}`)
process.exit(seen.join() === 'CONNECTION_ENDED,CONNECTION_ENDED,answered' ? 0 : 1)
JS
node run.mjs
