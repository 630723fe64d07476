// Reads a document of generated issues, with every check, against JSON.parse of the whole file. Each run is a process of its own:
// after one JSON.parse of a large file, the memory of the process is ready for the next one, and only the first one pays for it.
import { strictEqual } from 'node:assert'
import { createReadStream, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource } from 'forgelet/exchange/files'
import { countOf, issueDocument } from './exchange.mjs'
import { compare, inFolder, interleave, startProcess, timed } from './harness.mjs'

const RECORDS = 100_000
/** A slice is a whole process, and long: the calm fifth are two of them. */
const SLICES = 10

/** Each returns how many issues the file has. */
const WORK = {
  parse: (file) => JSON.parse(readFileSync(file, 'utf8')).length,
  file: async (file) => countOf(readIssues(await openIssueSource(file))),
  stream: (file) => countOf(readIssues({ json: createReadStream(file) })),
  memory: (file) => countOf(readIssues({ json: readFileSync(file) })),
}

if (process.argv[1] === import.meta.filename) {
  const [name, file] = process.argv.slice(2)
  const cost = await timed(async () => strictEqual(await WORK[name](file), RECORDS))
  process.send(cost, () => process.exit())
}

/** Measures the reading of JSON. A slice reads the whole document once, in a new process, whose start is not counted. */
export function measure() {
  return inFolder(async (folder) => {
    const file = join(folder, 'issues.json')
    for (const piece of issueDocument(RECORDS)) writeFileSync(file, piece, { flag: 'a' })
    const sides = Object.keys(WORK).map((name) => {
      const slice = async () => (await startProcess(import.meta.filename, [name, file])).message
      return [name, { warmUp: slice, slice }]
    })
    const measured = await interleave(Object.fromEntries(sides), { slices: SLICES })
    return Object.entries({ file: 'a file', stream: 'a stream', memory: 'bytes in memory' }).map(([side, source]) =>
      compare(measured, {
        work: `readIssues of ${source}, every check`,
        floor: 'JSON.parse of the whole file',
        of: [side, 'parse'],
        reach: '>= 0.85',
      }),
    )
  })
}
