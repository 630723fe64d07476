#!/usr/bin/env bash
# light-my-request 6.8.1 (the `inject` of fastify 5.12.8, and the requests of @fastify/aws-lambda) and @hapi/shot of @hapi/hapi 21.4.10.
# Guess: code that gets the raw request, as a listener of node:http does, can tell by `request.complete` whether the body has arrived:
# it is true once the body was read, on a server and in an injected request alike. Both packages say that they fake node:http.
# Seen: an injected request has no property `complete`, before and after its body was read to the end. It has `readableEnded`, as every
# stream has. What waits for the rest of a request that is not complete waits forever in tests, and on AWS Lambda, but not on a server.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fastify@5.12.8 light-my-request@6.8.1 @hapi/hapi@21.4.10
cat > look.mjs <<'JS'
import { server as createServer } from '@hapi/hapi'
import fastify from 'fastify'

const sent = { method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload: '{"a":1}' }
const about = ({ complete, readableEnded }) => ({ complete: complete ?? 'missing', readableEnded })

const app = fastify()
app.post('/', (request) => about(request.raw))
const hapi = createServer()
hapi.route({ method: 'POST', path: '/', handler: ({ raw }) => about(raw.req) })
const seen = {
  'fastify.inject': (await app.inject(sent)).json(),
  'hapi.inject': JSON.parse((await hapi.inject(sent)).payload),
  'a server': await (await fetch(await app.listen({ port: 0, host: '127.0.0.1' }), { method: 'POST', headers: sent.headers, body: sent.payload })).json(),
}
await app.close()
for (const [how, { complete, readableEnded }] of Object.entries(seen)) console.log(`${how}: complete ${complete}, readableEnded ${readableEnded}`)
const isAsSeen = Object.values(seen).map(({ complete, readableEnded }) => `${complete} ${readableEnded}`).join() === 'missing true,missing true,true true'
process.exit(isAsSeen ? 0 : 1)
JS
node look.mjs
