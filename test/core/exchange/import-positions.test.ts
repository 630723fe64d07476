import { beforeEach, describe, expect, test } from 'vitest'
import { readExchange, readIssues } from '../../../src/exchange/exchange.ts'
import type { ImportRequest, Violation } from '../../../src/index.ts'
import { isForgeError } from '../../../src/index.ts'
import type { Sample } from '../../exchange/forges/samples.ts'
import { giteaDump, githubIssue } from '../../exchange/forges/samples.ts'
import { folderOf } from '../../exchange/reading.ts'
import type { Person } from '../a-forge.ts'
import { aForge, olga } from '../a-forge.ts'
import { MemoryTracker } from './memory-tracker.ts'
import { anIssue } from './records.ts'

const encoder = new TextEncoder()
let forge = aForge({ issues: new MemoryTracker<Person>() })

beforeEach(() => {
  forge = aForge({ issues: new MemoryTracker<Person>() })
})

async function violationsOf(
  records: ImportRequest['records'],
  call: 'import' | 'inspect' = 'import',
): Promise<readonly Violation[]> {
  const error = await forge.exchange[call](olga, { repositoryId: 10, records }).then(
    () => new Error('nothing was refused'),
    (reason: unknown) => reason,
  )
  if (isForgeError(error, 'INVALID_DOCUMENT')) return error.details.violations
  throw error
}

/** Returns the code, pointer, line and file of violations, and the text of the source at each offset. */
function shown(violations: readonly Violation[], texts: string | { readonly [file: string]: string }) {
  return violations.map(({ code, pointer, offset = -1, line, file }) => {
    const text = typeof texts === 'string' ? texts : (texts[file ?? ''] ?? '')
    const rest = new TextDecoder().decode(encoder.encode(text).subarray(offset))
    return [code, pointer, line, file, offset < 0 ? undefined : rest.slice(0, 8)]
  })
}

const lines = (...records: readonly unknown[]): string =>
  `[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n`

describe('a violation that only an import finds', () => {
  const document = lines(
    anIssue(7, { title: 'schön' }),
    anIssue(7),
    anIssue(0),
    anIssue(8, { content: 'a\0b', labels: [{ name: 'bug' }, { name: 'big\0' }] }),
    anIssue(9, { poster_id: 2 ** 53 }),
  )
  const expected = [
    ['duplicate_number', '/1/number', 3, undefined, '{"number'],
    ['integer', '/2/number', 4, undefined, '{"number'],
    ['nul', '/3/content', 5, undefined, '{"number'],
    ['nul', '/3/labels/1/name', 5, undefined, '{"number'],
    ['integer', '/4/poster_id', 6, undefined, '{"number'],
  ]

  test.each([
    ['readExchange', readExchange],
    ['readIssues', readIssues],
  ])('has its position in the source of %s', async (_name, read) => {
    expect(shown(await violationsOf(read({ json: document }), 'inspect'), document)).toEqual(expected)
    expect(shown(await violationsOf(read({ json: document })), document)).toEqual(expected.slice(0, 1))
  })

  test('counts the records of the source, if records before it became none or several', async () => {
    const { user: _, ...github }: Sample = { ...githubIssue, labels: [] }
    const user = { id: 1, login: 'ada' }
    const text = lines(
      { user, ...github, number: 1 },
      { user, ...github, number: 2, pull_request: { url: 'x' } },
      { user: { id: 2 ** 60, login: 'bob' }, ...github, number: 3 },
      { user, ...github, number: 4, body: 'a\0b' },
      { user, ...github, number: 5, title: 'a\0b' },
    )

    expect(shown(await violationsOf(readExchange({ json: text }), 'inspect'), text)).toEqual([
      ['integer', '/2/poster_id', 4, undefined, '{"user":'],
      ['nul', '/3/content', 5, undefined, '{"user":'],
      ['nul', '/4/title', 6, undefined, '{"user":'],
    ])
  })

  test('names the file of a folder', async () => {
    const issues = (giteaDump['issue.yml'] ?? '').replace(/^\[\]\n/m, '')
    const comments = giteaDump['comments/8.yml'] ?? ''
    const files = {
      'issue.yml': `${issues}${issues}`,
      'comments/8.yml': comments.replace('poster_id: 3', 'poster_id: 9007199254740993').replace('null', 'NUL: \\0'),
    }

    expect(shown(await violationsOf(readExchange(folderOf(files)), 'inspect'), files)).toEqual([
      ['integer', '/0/poster_id', 1, 'comments/8.yml', '- issue_'],
      ['nul', '/0/content', 1, 'comments/8.yml', '- issue_'],
      ['duplicate_number', '/2/number', issues.split('\n').length, 'issue.yml', '- number'],
      ['duplicate_number', '/3/number', expect.any(Number), 'issue.yml', '- number'],
    ])
  })

  test('counts the records that were passed, if they come from a list or through other code', async () => {
    async function* labelled() {
      yield { kind: 'label', label: { name: 'bug' } } as const
      yield* readExchange({ json: document })
    }

    expect(await violationsOf([anIssue(1), anIssue(1)])).toEqual([
      expect.objectContaining({ code: 'duplicate_number', pointer: '/1/number' }),
    ])
    expect(shown(await violationsOf(labelled()), document)).toEqual([
      ['duplicate_number', '/2/number', undefined, undefined, undefined],
    ])
  })
})

describe('what is found when a batch is planned', () => {
  const { number: _, ...without } = githubIssue
  const github = (number: number, title: string) => ({ number, ...without, title })

  test('has the position of its record, if labels and milestones were read before it', async () => {
    const [before, after] = [lines(github(1, 'Old'), github(2, 'Old')), lines(github(1, 'Old'), github(2, 'New'))]
    await forge.exchange.import(olga, { repositoryId: 10, records: readExchange({ json: before }) })
    const records = () => readExchange({ json: after })
    const position = { pointer: '/1', offset: after.indexOf('{"number":2'), line: 3 }
    const details = { ...position, number: 2, reason: 'differs', property: 'title' }

    await expect(forge.exchange.import(olga, { repositoryId: 10, records: records() })).rejects.toMatchObject({
      code: 'IMPORT_CONFLICT',
      details,
    })
    expect((await forge.exchange.inspect(olga, { repositoryId: 10, records: records() })).conflicts).toEqual({
      total: 1,
      first: [details],
    })
  })
})
