// Reads generated issues in YAML, with every check, against JSON.parse of the same issues, and validates issues that are not valid
// against ajv. Exports the generated issues for other measurements.
import { strictEqual } from 'node:assert'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv from 'ajv-draft-04'
import addFormats from 'ajv-formats'
import { readIssues } from 'forgelet/exchange'
import { writeGiteaDump } from 'forgelet/exchange/files'
import { issueJsonSchema, labelJsonSchema, reactionJsonSchema, validateIssues } from 'forgelet/schema'
import { callSide, compare, inFolder, interleave } from './harness.mjs'

const RECORDS = 10_000
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
  yield '[\n'
  const lines = []
  for (let number = 1; number <= count; number += 1) {
    lines.push(`${issueLine(number)}${number === count ? '\n]\n' : ',\n'}`)
    if (lines.length === 100) yield lines.splice(0).join('')
  }
  yield lines.join('')
}

/** Returns how many issues a source has. */
export async function countOf(issues) {
  let found = 0
  for await (const issue of issues) found += issue.number > 0 ? 1 : 0
  return found
}

/** Measures the exchange. A slice reads or validates the whole document once. */
export function measure({ slices }) {
  return inFolder(async (folder) => {
    const [file, dump] = [join(folder, 'issues.json'), join(folder, 'dump')]
    const lines = Array.from({ length: RECORDS }, (_, index) => issueLine(index + 1))
    writeFileSync(file, `[${lines.join(',')}]`)
    await writeGiteaDump(dump, recordsOf(lines), { owner: 'ada', name: 'rocket' })
    const yaml = readFileSync(join(dump, 'issue.yml'))
    const invalid = lines.map((line, index) => spoilt(JSON.parse(line), index))
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
  })
}

function* recordsOf(lines) {
  for (const line of lines) yield { kind: 'issue', issue: JSON.parse(line) }
}

/** Puts faults into an issue. */
function spoilt(issue, index) {
  const { poster_name: _, ...rest } = issue
  const [label, ...labels] = issue.labels
  const created = index % 2 === 0 ? '2024-02-30' : 5
  return { ...rest, created, extra: true, labels: [{ ...label, name: null }, ...labels] }
}

/** Returns a function that validates an issue, and returns how many errors it has. */
function ajvValidation() {
  const ajv = new Ajv.default({
    strict: false,
    allErrors: true,
    schemas: { 'label.json': labelJsonSchema(), 'reaction.json': reactionJsonSchema() },
  })
  addFormats.default(ajv, ['date-time'])
  const validate = ajv.compile(issueJsonSchema())
  return (issue) => {
    validate([issue])
    return validate.errors.length
  }
}
