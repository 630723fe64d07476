// Pages of a list shift while they are fetched, so an issue may be in it several times. A document has each issue once.
import { describe, expect, test } from 'vitest'
import { readParsed } from '../../../src/exchange/documents/read-exchange.ts'
import { mayRepeat } from '../../../src/exchange/documents/repetitions.ts'
import type { ExchangeRecord } from '../../../src/exchange/exchange.ts'
import { readIssues } from '../../../src/exchange/exchange.ts'
import { allOf } from '../../core/exchange/records.ts'
import { bareIssue } from '../../schema/documents/sample-issue.ts'
import type { Sample } from '../forges/samples.ts'
import { giteaDump, giteaIssues, githubComment, githubIssue, gitlabRestIssue } from '../forges/samples.ts'
import { bytesOf, folderOf, outcomeOf, piecesOf, readSource, wordsOf } from '../reading.ts'

type Copy = readonly [number: number, updated: string, title: string]

const [EARLY, LATE] = ['2024-05-01T10:00:00Z', '2024-05-01T12:00:00.5+00:00']
/** Pages that shifted twice, newest first. Issue 4 was updated between two of them. */
const SHIFTED: readonly Copy[] = [
  ...([
    [6, EARLY, 'six'],
    [5, EARLY, 'five'],
    [4, EARLY, 'before'],
    [4, LATE, 'after'],
    [3, EARLY, 'three'],
  ] as const),
  ...([
    [4, EARLY, 'before'],
    [3, EARLY, 'again'],
    [2, EARLY, 'two'],
  ] as const),
]
const COUNTING = ['six', 'five', 'after', 'three', 'two']

const FORMS: { readonly [Form in 'github' | 'gitea' | 'gitlab-rest']: (copy: Copy) => Sample } = {
  github: ([number, updated_at, title]: Copy) => ({ ...githubIssue, number, updated_at, title }),
  gitea: ([number, updated_at, title]: Copy) => ({ ...giteaIssues[1], number, updated_at, title }),
  'gitlab-rest': ([iid, updated_at, title]: Copy) => ({ ...gitlabRestIssue, iid, updated_at, title }),
}

const titlesOf = (records: readonly ExchangeRecord[]): readonly string[] =>
  records.flatMap((record) => (record.kind === 'issue' ? [record.issue.title] : []))

describe.each(Object.entries(FORMS))('a list of %s', (_form, issueOf) => {
  const list = SHIFTED.map(issueOf)
  const json = JSON.stringify(list)

  test.each([
    ['a text', { json }],
    ['bytes', { json: bytesOf(json) }],
    ['lists of pages', { json: list.map((each) => JSON.stringify([each])).join('') }],
    ['a list of pieces', { json: [bytesOf(json.slice(0, 1000)), bytesOf(json.slice(1000))] }],
    ['what a function opens', { json: () => piecesOf(bytesOf(json), 50) }],
    ['YAML', { yaml: list.map((each) => `- ${JSON.stringify(each)}\n`).join('') }],
    ['a folder', folderOf({ 'issues.json': json })],
  ])('that is %s has each issue once, as it was updated last', async (_source, source) => {
    const outcome = await readSource(source)
    expect([outcome.violations, titlesOf(outcome.records)]).toEqual([[], COUNTING])
    expect(outcome.notCarried).toContainEqual(expect.objectContaining({ what: 'repeated', count: 3 }))
  })

  test('that was parsed before has each issue once, as it was updated last', async () => {
    expect(titlesOf(await allOf(readParsed(list, {})))).toEqual(COUNTING)
  })

  test('counts what is not carried of the issues that count', async () => {
    const { repeated, ...once } = wordsOf(await readSource({ json }))
    const { repeated: _, ...other } = wordsOf(
      await readSource({ json: JSON.stringify([6, 5, 4, 3, 2].map((number) => issueOf([number, LATE, 'a']))) }),
    )
    expect([repeated, once]).toEqual([3, other])
  })

  test('has the later issue however far apart they are, and the valid one', async () => {
    const between = Array.from({ length: 3000 }, (_, at): Copy => [at + 10, EARLY, 'between'])
    const copies: readonly Copy[] = [[4, EARLY, 'before'], ...between, [4, LATE, 'after']]
    const apart = [...copies.map(issueOf), { ...issueOf([4, '2025-01-01T00:00:00Z', 'broken']), state: 7 }]
    const { records, violations } = await readSource({ json: JSON.stringify(apart) })
    expect(titlesOf(records).filter((title) => title !== 'between')).toEqual(['after'])
    expect(violations).toMatchObject([{ pointer: '/3002/state' }])
  })

  test('that can be read only once has the issue that was updated last first, or is refused', async () => {
    const stream = (...copies: readonly Copy[]) => piecesOf(bytesOf(JSON.stringify(copies.map(issueOf))), 100)
    const once = await outcomeOf(
      stream([5, EARLY, 'five'], [4, LATE, 'after'], [4, EARLY, 'before'], [5, EARLY, 'again']),
    )
    expect([titlesOf(once.records), once.violations, wordsOf(once)['repeated']]).toEqual([['five', 'after'], [], 2])
    const shifted = await readSource({ json: stream([4, EARLY, 'before'], [4, LATE, 'after'], [3, EARLY, 'three']) })
    expect(titlesOf(shifted.records)).toEqual(['before', 'three'])
    expect(shifted.violations).toMatchObject([{ pointer: '/1/number', code: 'duplicate_number', line: 1 }])
  })

  test('that is cut off ends where it is', async () => {
    const { violations, records } = await readSource({ json: json.slice(0, -20) })
    expect([titlesOf(records), violations.map(({ code }) => code)]).toEqual([COUNTING.slice(0, -1), ['truncated']])
  })
})

const MILESTONE = { title: '1.0', state: 'closed' }

describe.each<[form: keyof typeof FORMS, milestone: (number: number) => object]>([
  ['github', (number) => ({ ...MILESTONE, number })],
  ['gitlab-rest', (iid) => ({ ...MILESTONE, iid })],
])('the numbers in a list of %s', (form, milestone) => {
  const issueOf = (number: number, text: string) => {
    return { ...FORMS[form]([number, EARLY, text]), milestone: milestone(1) }
  }
  const opened = async (list: readonly object[], indent = 0): Promise<readonly [number, readonly string[]]> => {
    let times = 0
    const open = () => {
      times += 1
      return piecesOf(bytesOf(JSON.stringify(list, undefined, indent)), 70_000)
    }
    const { records, violations } = await readSource({ json: open })
    expect(violations).toEqual([])
    return [times, titlesOf(records)]
  }
  /** Longer than what is searched at once. */
  const long = `"number": 1, "iid": 1 }} ${'and more '.repeat(20_000)}`

  test('are read ahead, without the records, if none is repeated', async () => {
    const list = [1, 2, 3].map((number) => ({ ...issueOf(number, `issue ${number}`), body: long, description: long }))
    expect(await opened(list)).toEqual([2, ['issue 1', 'issue 2', 'issue 3']])
    expect(await opened(list, 2)).toEqual([2, ['issue 1', 'issue 2', 'issue 3']])
  })

  test('are found where they are repeated, however the bytes are cut', async () => {
    const bodies = [0, 65_500, 65_536, 70_000].map((length) => 'x'.repeat(length))
    for (const body of bodies) {
      const list = [1, 2, 1].map((number, at) => ({ ...issueOf(number, `issue ${at}`), body, description: body }))
      expect(await opened(list)).toEqual([3, ['issue 0', 'issue 1']])
    }
  })
})

test('a repeated issue keeps its comments', async () => {
  const issues = [FORMS.github([7, EARLY, 'before']), FORMS.github([7, LATE, 'after'])]
  const files = { 'issues.json': JSON.stringify(issues), 'comments.json': JSON.stringify([githubComment]) }
  const { records } = await readSource(folderOf(files))
  expect(records.map(({ kind }) => kind)).toEqual(['milestone', 'issue', 'comment'])
})

test('a source whose signal aborts while it is read ahead ends with its reason', async () => {
  const signal = AbortSignal.abort('enough')
  await expect(allOf(readIssues({ json: JSON.stringify(SHIFTED.map(FORMS.github)) }, { signal }))).rejects.toBe(
    'enough',
  )
})

test.each([
  ['a document', { json: JSON.stringify([1, 1].map((number) => ({ ...bareIssue, number }))) }],
  ['a dump', folderOf({ 'issue.yml': (giteaDump['issue.yml'] ?? '').repeat(2).replaceAll(/^\[\]\n/gm, '') })],
])('%s is read with every issue, for an import to refuse', async (_, source) => {
  const { issues, notCarried } = await readSource(source)
  expect(issues.length).toBeGreaterThan(new Set(issues.map(({ number }) => number)).size)
  expect(notCarried.map(({ what }) => what)).not.toContain('repeated')
})

test('a list in which no object ends within the largest record is read no further ahead', async () => {
  let read = 0
  async function* bytes() {
    yield bytesOf('[{"number":1},{"number":2,"body":"')
    for (; read < 100; read += 1) yield bytesOf('x'.repeat(1000))
  }

  expect(await mayRepeat(bytes(), 'number', 10_000)).toBe(true)
  expect(read).toBeLessThan(12)
})

test.each([
  ['{"number":7}', true],
  ['{ "number" \t\r\n: \t\r\n7 }', true],
  ['{"number":6,"labels":[{"number":7}]}', true],
  ['{"number":9007199254740993}', true],
  ['{"number":6,"body":"the \\"number\\":7 of it"}', false],
  ['{"number":"7"}', false],
  ['{"numbers":7,"a_number":7}', false],
  ['{"milestone":{"number":7,"creator":null},"number":6}', false],
  ['{"milestone" : {"number":7,"number":7},"number":6}', false],
  ['{"milestone":{"number":6},"number":7}', true],
  ['{"epic":{"number":7,"labels":[{"number":5}]}}', false],
  ['{"epic":{"number":6,"labels":[{"number":7}]}}', true],
])('whether the issue 7 may repeat in %s is %s', async (text, repeats) => {
  async function* bytes() {
    yield* piecesOf(bytesOf(`[${text},{"number":7}]`), 5)
  }

  expect(await mayRepeat(bytes(), 'number', 10_000)).toBe(repeats)
})
