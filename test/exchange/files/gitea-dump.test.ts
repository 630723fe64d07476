import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExchangeRecord, IssueRecord, IssueSource } from '../../../src/exchange/exchange.ts'
import { readExchange, readIssues, writeIssues } from '../../../src/exchange/exchange.ts'
import { openIssueSource, writeGiteaDump } from '../../../src/exchange/files.ts'
import { describeWith } from '../../programs.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { giteaDump } from '../forges/samples.ts'
import { folderOf, readSource } from '../source.ts'

const RUNS = process.env['FORGELET_TEST_LONG'] === '1' ? 500 : 30
const REPOSITORY = { owner: 'acme', name: 'rocket' }
/** Texts that a reader of YAML 1.1 or 1.2 takes for something else when they are not quoted, and others. */
const AWKWARD: readonly string[] = [
  ...[
    'yes',
    'null',
    '~',
    '1e3',
    '0x1F',
    '0o17',
    '1_000',
    '12:30:45',
    '2024-02-29',
    '.nan',
    '<<',
    '=',
    '- a',
    'a: b',
    '# a',
  ],
  ...[
    'a\r\nb',
    ' a ',
    '\ta',
    'a\n',
    '\u2028',
    '\u0085',
    '\ufeff',
    '\u007f',
    '\uffff',
    '\u{1f680}',
    '\u{1ffff}',
    '',
    '"\\',
    "'",
  ],
]

const texts = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
)
const times = fc.constantFrom('2024-02-29T08:30:00Z', '2016-12-31T23:59:60Z', '2024-03-01T10:00:00.52+02:00')
const issues: fc.Arbitrary<IssueRecord> = fc.record(
  {
    number: fc.integer({ min: 1 }),
    poster_id: fc.integer(),
    poster_name: texts,
    poster_email: texts,
    title: texts,
    content: texts,
    ref: texts,
    milestone: texts,
    state: fc.constantFrom('open', 'closed'),
    is_locked: fc.boolean(),
    created: times,
    updated: times,
    closed: fc.option(times),
    labels: fc.array(fc.record({ name: texts, color: texts, description: texts }, { requiredKeys: ['name'] })),
    reactions: fc.array(
      fc.record({ user_id: fc.integer(), user_name: texts, content: texts }, { requiredKeys: ['user_id', 'content'] }),
    ),
    assignees: fc.array(texts),
  },
  {
    requiredKeys: [
      ...([
        'number',
        'poster_id',
        'poster_name',
        'title',
        'content',
        'state',
        'is_locked',
        'created',
        'updated',
      ] as const),
    ],
  },
)

let folder = ''
let count = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-dump-'))
})
afterAll(() => rm(folder, { recursive: true }))

const newFolder = (): string => join(folder, `${++count}`)

async function documentOf(source: IssueSource): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of writeIssues(readIssues(source))) text += decoder.decode(piece, { stream: true })
  return text
}

async function written(source: IssueSource): Promise<string> {
  const target = newFolder()
  await writeGiteaDump(target, readExchange(source), REPOSITORY)
  return target
}

describe('a Gitea dump', () => {
  test('of a document has the same document', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(issues, { maxLength: 4 }), async (document) => {
        const json = JSON.stringify(document)
        const dump = await written({ json })
        expect(await documentOf(await openIssueSource(dump))).toBe(await documentOf({ json }))
      }),
      { numRuns: RUNS },
    )
  })

  test('of a dump has the same records', async () => {
    const original = await readSource(folderOf(giteaDump))
    const again = await readSource(await openIssueSource(await written(folderOf(giteaDump))))

    const canonical = (records: readonly ExchangeRecord[]) => records.map((record) => JSON.stringify(record)).sort()
    expect(canonical(again.records)).toEqual(canonical(original.records))
    expect(again.violations).toEqual([])
  })

  test('has the labels and milestones that only issues name, and the comments by issue', async () => {
    const comment = { issue_number: 7, poster_id: 3, poster_name: 'mia', content: 'a', created: bareIssue.created }
    const records: ExchangeRecord[] = [
      { kind: 'issue', issue: fullIssue },
      { kind: 'issue', issue: { ...bareIssue, number: 8 } },
      ...[7, 8, 7].map((issue_number) => {
        return { kind: 'comment', comment: { ...comment, updated: bareIssue.updated, issue_number } } as const
      }),
    ]
    const target = newFolder()
    await writeGiteaDump(target, records, REPOSITORY)
    const outcome = await readSource(await openIssueSource(target))

    expect((await readdir(target, { recursive: true })).sort()).toEqual(
      ['comments', 'comments/7.yml', 'comments/8.yml', 'issue.yml', 'label.yml', 'milestone.yml', 'repo.yml'].sort(),
    )
    expect(outcome.records.map(({ kind }) => kind)).toEqual([
      ...['label', 'label', 'milestone', 'issue', 'comment', 'comment', 'issue', 'comment'],
    ])
  })

  test('appears whole or not at all', async () => {
    const target = newFolder()
    const records: ExchangeRecord[] = [{ kind: 'issue', issue: { ...bareIssue, title: JSON.parse('1') } }]
    await expect(writeGiteaDump(target, records, REPOSITORY)).rejects.toMatchObject({ code: 'INVALID_DOCUMENT' })
    expect(await readdir(folder)).not.toContain(`${count}`)
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])

    const full = await written({ json: '[]' })
    await expect(writeGiteaDump(full, [], REPOSITORY)).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    await expect(writeGiteaDump(newFolder(), [], { owner: '', name: 'a' })).rejects.toThrow(TypeError)
  })

  test('is YAML by the names of its files, also alone', async () => {
    const file = join(folder, 'alone.yml')
    await writeFile(file, giteaDump['issue.yml'] ?? '')
    expect((await readSource(await openIssueSource(file))).records).toHaveLength(2)
  })
})

describeWith(['python3'], 'a reader of YAML 1.1', () => {
  test('reads every text of a dump as a text', async () => {
    const document = AWKWARD.map((text, at) => ({
      ...fullIssue,
      number: at + 1,
      title: text,
      content: text,
      ref: text,
    }))
    const target = await written({ json: JSON.stringify(document) })
    const program = 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1], encoding="utf-8")), sys.stdout)'
    const read: unknown = JSON.parse(
      execFileSync('python3', ['-c', program, join(target, 'issue.yml')], { encoding: 'utf8' }),
    )

    expect(read).toMatchObject(
      AWKWARD.map((text, at) => ({
        number: at + 1,
        title: text,
        content: text,
        ref: text,
        created: fullIssue.created,
        foreignindex: at + 1,
      })),
    )
  })
})
