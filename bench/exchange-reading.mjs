// Reads a document of generated issues, with every check, against JSON.parse of the whole file. Each run is a process of its own:
// after one JSON.parse of a large file, the memory of the process is ready for the next one, and only the first one pays for it.
//   const rows = await measure()
import { strictEqual } from 'node:assert'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource } from 'forgelet/exchange/files'
import { issueDocument } from './exchange.mjs'
import { compare, interleave, timed } from './harness.mjs'

const RECORDS = 100_000
/** A slice is a whole process, and long: the calm fifth are two of them. */
const SLICES = 10

/** Each returns how many issues the file has. */
const WORK = {
  parse: (file) => JSON.parse(readFileSync(file, 'utf8')).length,
  file: async (file) => count(readIssues(await openIssueSource(file))),
  stream: (file) => count(readIssues({ json: createReadStream(file) })),
  memory: (file) => count(readIssues({ json: readFileSync(file) })),
}

if (process.send !== undefined) await work(...process.argv.slice(2))

/** Measures the reading of JSON. A slice reads the whole document once, in a new process. */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-exchange-'))
  const file = join(folder, 'issues.json')
  try {
    await pipeline(Readable.from(issueDocument(RECORDS)), createWriteStream(file))
    const sides = Object.keys(WORK).map((name) => [name, processSide(name, file)])
    const measured = await interleave(Object.fromEntries(sides), { slices: SLICES })
    const row = (source, side) =>
      compare(measured, {
        work: `readIssues of ${source}, every check`,
        floor: 'JSON.parse of the whole file',
        of: [side, 'parse'],
        reach: '>= 1.2',
      })
    return [row('a file', 'file'), row('a stream', 'stream'), row('bytes in memory', 'memory')]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A side whose every slice is a new process. It reports what the work cost, without its start. */
function processSide(name, file) {
  const slice = async () => {
    const child = fork(import.meta.filename, [name, file])
    const [cost] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error(`the process of ${name} ended`)
      }),
    ])
    return cost
  }
  return { warmUp: slice, slice }
}

/** In a process of its own. */
async function work(name, file) {
  const cost = await timed(async () => strictEqual(await WORK[name](file), RECORDS))
  process.send(cost, () => process.exit())
}

async function count(issues) {
  let found = 0
  for await (const issue of issues) found += issue.number > 0 ? 1 : 0
  return found
}
