// Serves the demo forge: `npm start`, or `npm start -- --port 4000`. What it keeps is in .demo/, and a second start finds it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { generateKey } from '../dist/signing-keys.js'

const TOKEN = 'alice-token'
const folder = '.demo'
const key = join(folder, 'signing-key.asc')
const root = relative('.', join(import.meta.dirname, '..'))

await mkdir(folder, { recursive: true })
if (!existsSync(key)) await writeFile(key, await newKey(), { mode: 0o600 })

const NOTE = `**This is a demo.** The token of its site admin, alice: \`${TOKEN}\`. Press *Authorize* and paste it under *bearer*.
Others: \`olga-token\`, \`mia-token\`. One click, without a token: [the pinned issues of harbor/tide-table](v1/repos/harbor/tide-table/issues/pinned).`

const options = [
  '--db',
  join(folder, 'forgelet.sqlite'),
  '--fixture',
  join(root, 'demo/fixture.json'),
  '--signing-key',
  key,
  '--page-note',
  NOTE,
]
const command = [join(root, 'dist/cli.js'), 'serve', ...options, ...process.argv.slice(2)]
const server = spawn(process.execPath, command, { stdio: ['inherit', 'pipe', 'inherit'] })

// Stopping this process stops both. Ctrl-C also reaches the server itself, which then gets the signal twice: that changes nothing.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill('SIGTERM'))
server.on('exit', (code) => {
  process.exitCode = code ?? 1
})
createInterface({ input: server.stdout }).on('line', (line) =>
  console.log(line.startsWith('http') ? welcome(line) : line),
)

async function newKey() {
  const { privateKey } = await generateKey({ format: 'openpgp', name: 'Demo Forge', email: 'forge@example.com' })
  return privateKey
}

function welcome(url) {
  const authorization = `-H 'Authorization: token ${TOKEN}'`
  return `
The demo forge is at ${url}
The token of its site admin, alice: ${TOKEN}   (others: olga-token, mia-token, ...)
A page to read about it and to try it: ${new URL('/api/swagger', url)}

Try, in another terminal:

  curl ${url}/signing-key.gpg
  curl ${url}/repos/harbor/tide-table/issues/pinned
  curl -i -X POST ${authorization} ${url}/repos/harbor/tide-table/issues/5/pin
  curl ${authorization} ${url}/orgs/harbor/blocks
  curl ${authorization} ${url}/admin/users/mia/badges

Its data is in ${folder}/: delete the folder to start afresh. Ctrl-C stops it.
`
}
