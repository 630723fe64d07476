#!/usr/bin/env bash
# workerd 1.20260426.1 (Miniflare 4.20260426.0): a Response with a ReadableStream whose `pull` waits for a timer, and a client that disconnects.
# One would guess: the timer comes, and `pull` goes on, or `cancel` of the source is called; at least a `finally` around the wait runs, in
# which a program gives back what it has taken.
# Seen: none of the three, with the flag enable_request_signal or without: the function stops where it waits, for good. The same
# Worker answers other requests meanwhile, so what it counts in a variable stays wrong until it is replaced.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . miniflare@4.20260426.0 >/dev/null
cat >run.mjs <<'JS'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Miniflare } from 'miniflare'

const script = `
const seen = { pulls: 0, ended: 0, cancelled: 0 }
export default {
  fetch(request) {
    if (new URL(request.url).pathname === '/seen') return Response.json(seen)
    return new Response(new ReadableStream({
      async pull(controller) {
        seen.pulls += 1
        try {
          if (seen.pulls > 1) await new Promise((resolve) => setTimeout(resolve, 500))
          controller.enqueue(new TextEncoder().encode('a piece'))
        } finally {
          seen.ended += 1
        }
      },
      cancel() { seen.cancelled += 1 },
    }, { highWaterMark: 0 }))
  },
}`

async function run(compatibilityFlags) {
  const worker = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2026-01-01',
    compatibilityFlags,
    cf: false,
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  })
  const { port } = await worker.unsafeGetDirectURL()
  const client = connect(Number(port), '127.0.0.1').on('error', () => undefined)
  client.write('GET / HTTP/1.1\r\nHost: example.com\r\n\r\n')
  await once(client, 'data')
  await pause(100)
  client.destroy()
  await pause(2000)
  const seen = await (await fetch(`http://127.0.0.1:${port}/seen`)).json()
  await worker.dispose()
  console.log(`flags ${compatibilityFlags.join() || 'none'}: ${JSON.stringify(seen)}`)
  return seen.pulls === seen.ended + 1 && seen.cancelled === 0
}

const isSeen = (await run([])) && (await run(['enable_request_signal']))
process.exit(isSeen ? 0 : 1)
JS
node run.mjs
