// Proves the adapters of HTTP on one runtime, by requests over real HTTP from the Node that runs this. One line for each
// failure, and a last line with the counts; the exit code is 1 when something failed. Arguments: the server (node, bun, deno,
// workerd), what runs it, the folder of what is installed, and the folder of the built package.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'
import { SERVERS } from './http/servers.mjs'

const [server, program, folder, dist] = process.argv.slice(2)
const { start, ...facts } = SERVERS[server]
const entry = join(import.meta.dirname, 'http/ask.mjs')
const { askEverything } = await import(
  pathToFileURL(await bundle({ entry, dist, outfile: join(folder, 'ask.mjs') })).href
)

const { port, stop } = await start({ program, folder, dist })
try {
  const { passed, failures } = await askEverything({ port, ...facts })
  for (const failure of failures) say(`FAIL  ${failure}`)
  say(`${passed} passed, ${failures.length} failed`)
  process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1
} finally {
  await stop()
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
