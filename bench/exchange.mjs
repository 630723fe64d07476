// Reads generated issues, with every check, against JSON.parse of the same issues, and validates issues that are not valid against
// ajv. JSON is read in a process of its own each time: after one JSON.parse of a large file, the memory of the process is ready for
// the next one, and only the first one pays for it. Exports the generated issues for other measurements.
import { strictEqual } from 'node:assert'
import { createReadStream, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv from 'ajv-draft-04'
import addFormats from 'ajv-formats'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource, writeGiteaDump } from 'forgelet/exchange/files'
import { issueJsonSchema, labelJsonSchema, reactionJsonSchema, validateIssues } from 'forgelet/schema'
import { callSide, compare, inFolder, interleave, startProcess, timed } from './harness.mjs'

const RECORDS = 10_000
/** In the file that a process of its own reads. */
const MANY_RECORDS = 100_000
/** Of the reading of JSON. Each is a whole process, and long: the calm fifth are two of them. */
const SLICES = 10
/** In each issue that is not valid. */
const FAULTS = 4

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

/** What reads JSON in a process of its own. Each returns how many issues the file has. */
const READING = {
  parse: (file) => JSON.parse(readFileSync(file, 'utf8')).length,
  file: async (file) => countOf(readIssues(await openIssueSource(file))),
  stream: (file) => countOf(readIssues({ json: createReadStream(file) })),
  memory: (file) => countOf(readIssues({ json: readFileSync(file) })),
}

if (process.argv[1] === import.meta.filename) {
  const [name, file] = process.argv.slice(2)
  const cost = await timed(async () => strictEqual(await READING[name](file), MANY_RECORDS))
  process.send(cost, () => process.exit())
}

/** Measures the exchange. A slice reads or validates the whole document once. */
export function measure({ slices }) {
  return inFolder(async (folder) => [...(await readJson(folder)), ...(await readYamlAndValidate(folder, slices))])
}

async function readJson(folder) {
  const file = join(folder, 'many.json')
  for (const line of issueDocument(MANY_RECORDS)) writeFileSync(file, line, { flag: 'a' })
  const sides = Object.keys(READING).map((name) => {
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
}

async function readYamlAndValidate(folder, slices) {
  const [file, dump] = [join(folder, 'issues.json'), join(folder, 'dump')]
  writeFileSync(file, [...issueDocument(RECORDS)].join(''))
  const issues = JSON.parse(readFileSync(file, 'utf8'))
  const records = issues.map((issue) => ({ kind: 'issue', issue }))
  await writeGiteaDump(dump, records, { owner: 'ada', name: 'rocket' })
  const yaml = readFileSync(join(dump, 'issue.yml'))
  const invalid = issues.map(spoilt)
  const validateWithAjv = ajvValidation()
  for (const issue of invalid) {
    strictEqual(validateIssues([issue]).violations.length, FAULTS)
    strictEqual(validateWithAjv(issue), FAULTS)
  }
  const once = { count: 1, warmUp: 2 }
  const sides = {
    parse: callSide(() => void JSON.parse(readFileSync(file, 'utf8')), once),
    yaml: callSide(async () => strictEqual(await countOf(readIssues({ yaml })), RECORDS), once),
    validate: callSide(() => void invalid.map((issue) => validateIssues([issue]).violations.length), once),
    ajv: callSide(() => void invalid.map(validateWithAjv), once),
  }
  const measured = await interleave(sides, { slices })
  return [
    compare(measured, {
      work: 'readIssues of the same issues in YAML, every check',
      floor: 'JSON.parse of the whole file',
      of: ['yaml', 'parse'],
      reach: '>= 0.02',
    }),
    compare(measured, {
      work: `validateIssues, ${FAULTS} faults in each issue`,
      floor: 'ajv with all errors',
      of: ['validate', 'ajv'],
      reach: '<= 2',
      as: 'cost',
    }),
  ]
}

/** Puts faults into an issue. */
function spoilt({ poster_name: _, ...issue }, index) {
  const [label, ...labels] = issue.labels
  const created = index % 2 === 0 ? '2024-02-30' : 5
  return { ...issue, created, extra: true, labels: [{ ...label, name: null }, ...labels] }
}

/** Returns a function that validates an issue, and returns how many errors it has. */
function ajvValidation() {
  const schemas = { 'label.json': labelJsonSchema(), 'reaction.json': reactionJsonSchema() }
  const ajv = new Ajv.default({ strict: false, allErrors: true, schemas })
  addFormats.default(ajv, ['date-time'])
  const validate = ajv.compile(issueJsonSchema())
  return (issue) => {
    validate([issue])
    return validate.errors.length
  }
}
