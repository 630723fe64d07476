// Reads generated issues, with every check, against JSON.parse of the same issues. Each reading is a process of its own: after one
// JSON.parse of a large file, the memory of the process is ready for the next one, and only the first one pays for it. Exports the
// generated issues for other measurements.
import { strictEqual } from 'node:assert'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource } from 'forgelet/exchange/files'
import { compare, inFolder, interleave, startProcess, timed } from './harness.mjs'

const RECORDS = 100_000
/** Each is a whole process, and long: the calm fifth are two of them. */
const SLICES = 10

/** Issues of about 1.7 KB, with texts of several alphabets. Returns one line of the document. */
export function issueLine(number) {
  const words = ['Größe', 'rocket', 'countdown', '日本語', '\u{1F680}', 'a "quoted" word', 'line\nbreak', 'C:\\path']
  const text = (length, seed) => {
    let words_ = ''
    for (let at = seed; words_.length < length; at += 7) words_ += `${words[at % (at % 5 === 0 ? 8 : 3)]} `
    return words_
  }
  return JSON.stringify({
    number,
    poster_id: number % 997,
    poster_name: `user${number % 997}`,
    poster_email: `user${number % 997}@example.com`,
    title: text(60, number),
    content: text(500 + ((number * 7919) % 1400), number + 1),
    ref: 'main',
    milestone: `v${number % 12}`,
    state: number % 3 === 0 ? 'open' : 'closed',
    is_locked: number % 50 === 0,
    created: '2024-02-29T08:30:00Z',
    updated: '2024-03-01T10:00:00+02:00',
    closed: number % 3 === 0 ? null : '2024-03-01T10:00:00Z',
    labels: [{ name: 'bug', color: 'd73a4a', description: 'Something is off' }, { name: `area/${number % 20}` }],
    reactions: [{ user_id: 4, user_name: 'ada', content: '+1' }],
    assignees: ['ada', `user${number % 31}`],
  })
}

/** Yields a document of such issues in pieces. */
export function* issueDocument(count) {
  for (let number = 1; number <= count; number += 1) yield `${number === 1 ? '[\n' : ',\n'}${issueLine(number)}`
  yield '\n]\n'
}

/** Returns how many issues a source has. */
export async function countOf(issues) {
  let found = 0
  for await (const issue of issues) found += issue.number > 0 ? 1 : 0
  return found
}

/** What reads the document in a process of its own. Each returns how many issues it has. */
const READING = {
  'JSON.parse': (file) => JSON.parse(readFileSync(file, 'utf8')).length,
  readIssues: async (file) => countOf(readIssues(await openIssueSource(file))),
}

if (process.argv[1] === import.meta.filename) {
  const [name, file] = process.argv.slice(2)
  const cost = await timed(async () => strictEqual(await READING[name](file), RECORDS))
  process.send(cost, () => process.exit())
}

/** Measures a reading. A slice reads the whole document once. */
export function measure() {
  return inFolder(async (folder) => {
    const file = join(folder, 'issues.json')
    for (const line of issueDocument(RECORDS)) writeFileSync(file, line, { flag: 'a' })
    const sides = Object.keys(READING).map((name) => {
      const slice = async () => (await startProcess(import.meta.filename, [name, file])).message
      return [name, { warmUp: slice, slice }]
    })
    const measured = await interleave(Object.fromEntries(sides), { slices: SLICES })
    const row = {
      work: 'readIssues of a file, every check',
      floor: 'JSON.parse of the whole file',
      of: ['readIssues', 'JSON.parse'],
      reach: 0.85,
    }
    return [compare(measured, row)]
  })
}
