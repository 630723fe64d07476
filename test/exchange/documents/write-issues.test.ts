import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { IssueRecord } from '../../../src/exchange/exchange.ts'
import { canonicalIssue, readIssues, writeCsv, writeIssues } from '../../../src/exchange/exchange.ts'
import { issueListSchema } from '../../../src/schema/schema.ts'
import { allOf, textOf } from '../../core/exchange/records.ts'
import { documents } from '../../schema/documents/changed-documents.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'

describe('the canonical document', () => {
  test('has one issue on each line, properties in the order of the schema, and times in UTC', async () => {
    const reversed = Object.fromEntries(Object.entries(fullIssue).reverse())
    const text = await textOf([bareIssue, { ...fullIssue, ...reversed }])

    expect(text).toBe(
      `[
{"number":7,"poster_id":3,"poster_name":"mia","title":"The countdown skips four","content":"Five, three, two.","state":"open","is_locked":false,"created":"2024-02-29T08:30:00Z","updated":"2024-03-01T08:00:00.520Z"},
{"number":7,"poster_id":3,"poster_name":"mia","poster_email":"mia@example.com","title":"The countdown skips four","content":"Five, three, two.","ref":"main","milestone":"First flight","state":"closed","is_locked":false,"created":"2024-02-29T08:30:00Z","updated":"2024-03-01T08:00:00.520Z","closed":"2024-03-01T10:00:00Z","labels":[{"name":"bug","color":"d73a4a","description":"Something is off"},{"name":"urgent"}],"reactions":[{"user_id":4,"user_name":"ada","content":"+1"},{"user_id":5,"content":"rocket"}],"assignees":["ada","alice"]}
]
`,
    )
  })

  test('leaves out what is empty and optional, and keeps what is required', async () => {
    const required = { poster_name: '', title: '', content: '' }
    const lists = { labels: [{ name: '', color: '', description: '' }], reactions: [], assignees: [] }
    const issue = { ...bareIssue, ...required, poster_email: '', ref: '', milestone: '', closed: null, ...lists }
    const times = { updated: '2024-03-01T08:00:00.520Z' }

    expect(canonicalIssue(issue)).toStrictEqual({ ...bareIssue, ...required, ...times, labels: [{ name: '' }] })
  })

  test('of no issues is an empty array', async () => {
    expect(await textOf([])).toBe('[\n]\n')
  })

  test('is read as the canonical issues, and written again as the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        const issues = issuesIn(document)
        fc.pre(JSON.stringify(issues).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(issues)))
        const text = await textOf(issues)

        expect(await allOf(readIssues({ json: text }))).toEqual(JSON.parse(JSON.stringify(issues.map(canonicalIssue))))
        expect(await textOf(readIssues({ json: text }))).toBe(text)
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['that is not valid', { ...bareIssue, state: 'Open' }, '/1/state', 'choice'],
    ['with half of a surrogate pair', { ...bareIssue, labels: [{ name: '\ud83d' }] }, '/1/labels/0/name', 'surrogate'],
  ])('of an issue %s is refused', async (_, issue, pointer, code) => {
    // @ts-expect-error: a caller without types
    await expect(textOf([bareIssue, issue])).rejects.toMatchObject({
      code: 'INVALID_DOCUMENT',
      details: { violations: [{ pointer, code }], total: 1 },
    })
  })

  test('ends its source when its reader stops', async () => {
    let isEnded = false
    async function* issues(): AsyncGenerator<IssueRecord, void, void> {
      try {
        for (;;) yield fullIssue
      } finally {
        isEnded = true
      }
    }
    for await (const piece of writeIssues(issues())) {
      expect(piece.length).toBeGreaterThan(1000)
      break
    }

    expect(isEnded).toBe(true)
  })

  test('of nothing to iterate is a TypeError at once', () => {
    // @ts-expect-error: a caller without types
    expect(() => writeIssues({})).toThrow(/^writeIssues needs issues: /)
  })
})

function issuesIn(document: unknown): IssueRecord[] {
  const result = issueListSchema['~standard'].validate(document)
  if (result.issues !== undefined) throw new Error('the document is not valid')
  return result.value
}

describe('CSV', () => {
  const HEADER =
    '\ufeffnumber,title,state,locked,author,assignees,labels,milestone,created,updated,closed,description\r\n'

  test('has a row of names and one row an issue, ended by CRLF', async () => {
    const labels = [{ name: 'bug', color: 'd73a4a' }, { name: 'a "b"' }]
    const issue = { ...bareIssue, labels, assignees: ['ada', 'wim'], content: 'one\ntwo' }

    expect(await textOf([], writeCsv)).toBe(HEADER)
    expect(await textOf([issue, { ...bareIssue, number: 8 }], writeCsv)).toBe(
      `${HEADER}7,The countdown skips four,open,false,mia,"ada, wim","bug, a ""b""",,2024-02-29T08:30:00Z,2024-03-01T08:00:00.520Z,,"one
two"\r
8,The countdown skips four,open,false,mia,,,,2024-02-29T08:30:00Z,2024-03-01T08:00:00.520Z,,"Five, three, two."\r
`,
    )
  })

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '\uff1d1'])(
    'puts an apostrophe before %j, which a spreadsheet would run',
    async (title) => {
      const text = await textOf([{ ...bareIssue, title }], writeCsv)
      expect(text.slice(HEADER.length)).toMatch(/^7,"?'/)
    },
  )

  test('has no byte order mark on demand', async () => {
    const bare: typeof writeCsv = (issues) => writeCsv(issues, { bom: false })
    expect(await textOf([], bare)).toBe(HEADER.slice(1))
    expect(await textOf([bareIssue], bare)).toBe((await textOf([bareIssue], writeCsv)).slice(1))
    // @ts-expect-error: a caller without types
    expect(() => writeCsv([], { bom: 'no' })).toThrow(/^writeCsv needs bom/)
  })

  test('refuses an issue that is not valid', async () => {
    const broken = [bareIssue, { ...bareIssue, state: 'opened' }] as IssueRecord[]
    await expect(textOf(broken, writeCsv)).rejects.toMatchObject({ details: { violations: [{ pointer: '/1/state' }] } })
    // @ts-expect-error: nothing to write
    expect(() => writeCsv(undefined)).toThrow(TypeError)
  })
})
