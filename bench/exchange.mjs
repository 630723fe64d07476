// Reads a document of generated issues, with every check, against JSON.parse of the whole file.
//   const rows = await measure({ slices })
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource } from 'forgelet/exchange/files'
import { callSide, compare, interleave } from './harness.mjs'

const RECORDS = 10_000

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

/** Measures the exchange. A slice reads the whole document once. */
export async function measure({ slices }) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-exchange-'))
  const file = join(folder, 'issues.json')
  writeFileSync(file, `[\n${Array.from({ length: RECORDS }, (_, index) => issueLine(index + 1)).join(',\n')}\n]\n`)
  const bytes = readFileSync(file)
  try {
    const count = async (issues) => {
      let found = 0
      for await (const issue of issues) found += issue.number > 0 ? 1 : 0
      if (found !== RECORDS) throw new Error(`${found} issues`)
    }
    const once = { count: 1, warmUp: 2 }
    const measured = await interleave(
      {
        parse: callSide(() => void JSON.parse(readFileSync(file, 'utf8')), once),
        file: callSide(async () => count(readIssues(await openIssueSource(file))), once),
        stream: callSide(() => count(readIssues({ json: createReadStream(file) })), once),
        memory: callSide(() => count(readIssues({ json: bytes })), once),
      },
      { slices },
    )
    const row = (work, side) =>
      compare(measured, { work, floor: 'JSON.parse of the whole file', of: [side, 'parse'], reach: '>= 1.2' })
    return [
      row('readIssues of a file, every check', 'file'),
      row('readIssues of a stream, every check', 'stream'),
      row('readIssues of bytes in memory, every check', 'memory'),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
