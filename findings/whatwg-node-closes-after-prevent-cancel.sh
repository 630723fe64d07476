#!/usr/bin/env bash
# @whatwg-node/server 0.11.0 (npm), with @whatwg-node/fetch 0.10.13 and @whatwg-node/node-fetch 0.8.6, on which GraphQL Yoga 5 runs.
# Guess: a handler that stops reading a body of `request.body.values({ preventCancel: true })`, as the Streams standard has it, leaves the
# rest of the body alone, and its response is sent. Node's own Request behind the same server does that.
# Seen: values() takes no notice of its options and destroys the IncomingMessage, even if its only piece has been read. The connection is
# closed before the response: the client sees "socket hang up". A loop that reads to the end of the body gets its response out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @whatwg-node/server@0.11.0 @whatwg-node/fetch@0.10.13 @whatwg-node/node-fetch@0.8.6
cat > look.mjs <<'JS'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createServerAdapter } from '@whatwg-node/server'

const READ = {
  'to the end': async (body) => {
    for await (const _ of body.values({ preventCancel: true }));
  },
  'one piece': async (body) => {
    for await (const _ of body.values({ preventCancel: true })) break
  },
}
async function answerTo(listener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sent = request({ port: server.address().port, method: 'POST' })
  sent.end('abc')
  const answer = await once(sent, 'response').then(([{ statusCode }]) => statusCode, (error) => error.message)
  server.close()
  return answer
}
const seen = []
for (const [how, read] of Object.entries(READ)) {
  const answered = async (body) => {
    await read(body)
    return new Response('answer', { status: 422 })
  }
  const adapter = createServerAdapter((given) => answered(given.body))
  const byHand = async (incoming, response) => {
    const body = new ReadableStream({ start: (controller) => void incoming.on('data', (piece) => controller.enqueue(piece)).on('end', () => controller.close()) })
    response.writeHead((await answered(new Request('http://example.com', { method: 'POST', body, duplex: 'half' }).body)).status).end()
  }
  seen.push([how, await answerTo(adapter), await answerTo(byHand)])
}
for (const [how, adapter, byHand] of seen) console.log(`${how}: @whatwg-node/server ${adapter}; a Request of Node ${byHand}`)
const isAsSeen = JSON.stringify(seen) === JSON.stringify([['to the end', 422, 422], ['one piece', 'socket hang up', 422]])
process.exit(isAsSeen ? 0 : 1)
JS
node look.mjs
