// Readers that do not read, and uploads that cost a server most, as a process of its own: node hostile-clients.mjs API TOKEN MILLISECONDS.
// It prints the statuses of each kind of upload. "closed": the connection was closed while the body was sent.
import { connect } from 'node:net'
import process from 'node:process'
import { setTimeout as after } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

const [api, token, milliseconds] = process.argv.slice(2)
const READERS = 100
const MEBIBYTE = 1024 * 1024
const authorization = `token ${token}`

/** What is sent, and by how many clients at once: twenty in all. */
const UPLOADS = [
  ['a gzip bomb', 4, gzipSync(`[{"title":"${'x'.repeat(200 * MEBIBYTE)}`)],
  ['one endless record', 4, `[{"title":"${'x'.repeat(60 * MEBIBYTE)}`],
  ['brackets inside each other', 3, '['.repeat(30 * MEBIBYTE)],
  ['records that are not valid', 3, `[${'{"number":"seven"},'.repeat(1_000_000)}{}]`],
  ['a text of escapes', 3, `[{"title":"${'\\u0041'.repeat(8 * MEBIBYTE)}"}]`],
  ['aliases in YAML', 3, `- &a [x, x]\n${'- [*a, *a, *a]\n'.repeat(500_000)}`],
]

for (let reader = 0; reader < READERS; reader += 1) {
  const { hostname, port } = new URL(api)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(
    `GET /api/v1/repos/ada/rocket/issues/export HTTP/1.1\r\nhost: forge\r\nauthorization: ${authorization}\r\n\r\n`,
  )
}

const until = performance.now() + Number(milliseconds)
const answers = {}
async function attack(what, body) {
  const type = what.includes('YAML') ? 'application/yaml' : 'application/json'
  const headers = { authorization, 'content-type': type }
  while (performance.now() < until) {
    const url = `${api}/repos/ada/target/issues/import`
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    const status = String(answer?.status ?? 'closed')
    answers[what] = { ...answers[what], [status]: (answers[what]?.[status] ?? 0) + 1 }
    await after(100)
  }
}
process.stdout.write('attacking\n')
await Promise.all(
  UPLOADS.flatMap(([what, clients, body]) => Array.from({ length: clients }, () => attack(what, Buffer.from(body)))),
)
process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit())
