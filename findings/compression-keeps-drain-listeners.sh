#!/usr/bin/env bash
# compression 1.8.2, the middleware of Express and Connect, on a server of Node.
# One would guess: a handler that writes much may wait with `await once(response, 'drain')`, as Node's pages advise: events.once removes
# its listener when the event has come.
# Seen: the middleware passes each listener of `drain` on to its own gzip stream, where nothing removes it. A response that waits twelve
# times has twelve listeners there, and Node warns of a memory leak at the eleventh. Without the middleware, the same handler has one at
# a time, and there is no warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . compression@1.8.2 >/dev/null
cat >run.mjs <<'JS'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import compression from 'compression'

const warnings = []
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`))

async function run(middleware) {
  const server = createServer((request, response) =>
    middleware(request, response, async () => {
      response.setHeader('Content-Type', 'text/plain')
      for (let waits = 0; waits < 12; ) {
        if (response.write(randomBytes(100_000))) continue
        await once(response, 'drain')
        waits += 1
      }
      response.end()
    }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const headers = { 'Accept-Encoding': 'gzip' }
  const [answer] = await once(get({ port: server.address().port, host: '127.0.0.1', headers, agent: false }), 'response')
  await once(answer.resume(), 'end')
  server.close()
}

await run((_request, _response, next) => next())
const without = warnings.length
await run(compression())
console.log(`warnings without the middleware: ${without}; with it: ${warnings.join(', ') || 'none'}`)
const isSeen = without === 0 && warnings.some((each) => /MaxListenersExceeded.* 11 drain listeners added to \[Gzip\]/.test(each))
process.exit(isSeen ? 0 : 1)
JS
node --no-warnings run.mjs
