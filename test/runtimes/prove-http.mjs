// Proves the adapters of HTTP on one runtime, by requests over real HTTP from the Node that runs this. Arguments: the server
// (node, bun, deno, workerd), what runs it, the folder of what is installed, and the folder of the built package.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'
import { SERVERS } from './http/servers.mjs'
import { Report } from './report.mjs'

/** Cases that run at once. */
const AT_ONCE = 8

const [server, program, folder, dist] = process.argv.slice(2)
const { start, ...facts } = SERVERS[server]
const entry = join(import.meta.dirname, 'http/ask.mjs')
const { casesOf } = await import(pathToFileURL(await bundle({ entry, dist, outfile: join(folder, 'ask.mjs') })).href)

const { port, stop } = await start({ program, folder, dist })
try {
  const { cases, contracts } = casesOf({ port, ...facts })
  const report = new Report()
  await report.run(cases, AT_ONCE)
  // Those of one kind one after another: they block and unblock the same users.
  await Promise.all(contracts.map((contract) => report.run(contract)))
  report.end()
} finally {
  await stop()
}
