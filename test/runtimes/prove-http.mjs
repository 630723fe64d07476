// Proves the adapters of HTTP on one runtime, by requests over real HTTP from the Node that runs this. Arguments: the server
// (node, bun, deno, workerd), what runs it, the folder of what is installed, and the folder of the built package.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'
import { SERVERS } from './http/servers.mjs'
import { Report } from './report.mjs'

const [server, program, folder, dist] = process.argv.slice(2)
const { start, ...facts } = SERVERS[server]
const entry = join(import.meta.dirname, 'http/ask.mjs')
const { casesOf } = await import(pathToFileURL(await bundle({ entry, dist, outfile: join(folder, 'ask.mjs') })).href)

const { port, stop } = await start({ program, folder, dist })
try {
  const report = new Report()
  await Promise.all(casesOf({ port, ...facts }).map((cases) => report.run(cases)))
  report.end()
} finally {
  await stop()
}
