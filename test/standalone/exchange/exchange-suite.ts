import { beforeAll, describe, expect, test } from 'vitest'
import type { ExchangeRecord, IssueRecord } from '../../../src/index.ts'
import { FULL, plain } from '../tracker/tracker-world.ts'
import { generatedDocument } from './documents.ts'
import type { ExchangeWorld } from './exchange-world.ts'
import { textOf } from './exchange-world.ts'

const NONE = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
const document = generatedDocument()
const alice = { id: '1', username: 'Alice' } // a site admin
const walt = { id: '5', username: 'walt' } // an admin of the first repository

/** What the exchange of the standalone host does on a database. */
export function exchangeSuite(open: () => Promise<ExchangeWorld>): void {
  describe('the exchange', () => {
    let world: ExchangeWorld

    beforeAll(async () => {
      world = await open()
    })

    test('exports what was imported, to the byte, and an import of that changes nothing', async () => {
      const ascending = document.toSorted((one, other) => one.number - other.number)
      const canonical = await textOf(ascending)
      const repository = { repositoryId: '2', records: document }
      const first = await world.exchange.import('system', repository, { batch: 60 })
      expect(first).toMatchObject({ issues: { ...NONE, created: document.length }, comments: NONE })
      expect((await world.exported('2')) === canonical).toBe(true)

      const before = await world.contents()
      const second = await world.exchange.import('system', { ...repository, records: JSON.parse(canonical) })
      expect(second).toMatchObject({ issues: { ...NONE, unchanged: document.length }, comments: NONE })
      expect(await world.contents()).toEqual(before)
      expect((await world.exported('2')) === canonical).toBe(true)
    })

    test('carries labels, milestones and comments from one repository to another', async () => {
      await world.exchange.import('system', { repositoryId: '3', records: RECORDS })
      const once = await allOf(world.exchange.exportAll('system', '3'))
      expect(once).toEqual(RECORDS)
      const report = await world.exchange.import('system', { repositoryId: '4', records: once })
      expect(report).toMatchObject({ issues: { created: 2 }, comments: { created: 3 }, notCarried: [] })
      const twice = await allOf(world.exchange.exportAll('system', '4'))
      expect(twice).toEqual(RECORDS)
      const again = await world.exchange.import('system', { repositoryId: '4', records: twice })
      expect(again).toMatchObject({ issues: { ...NONE, unchanged: 2 }, comments: { ...NONE, unchanged: 3 } })
    })

    test('says in a dry run what the import then does, and writes nothing', async () => {
      const request = { repositoryId: '1', records: [...document.filter(({ number }) => number > 8), ...changed()] }
      const before = await world.contents()
      for (const options of [{ onConflict: 'update' }, { onConflict: 'skip', batch: 7 }] as const) {
        const expected = await world.exchange.inspect('system', request, options)
        expect(await world.contents()).toEqual(before)
        expect(expected.conflicts).toEqual({ total: 0, first: [] })
        expect(expected.issues.created).toBe(request.records.length - 2)
      }
      const { conflicts, ...expected } = await world.exchange.inspect('system', request, { onConflict: 'update' })
      expect(conflicts.total).toBe(0)
      expect(await world.exchange.import('system', request, { onConflict: 'update' })).toEqual(expected)
      expect(expected.issues).toMatchObject({ updated: 1, unchanged: 1 })
    })

    test('refuses the number of a pull request, whatever is asked for', async () => {
      for (const onConflict of ['refuse', 'skip', 'update'] as const) {
        const refused = world.exchange.import('system', { repositoryId: '1', records: [plain(2)] }, { onConflict })
        await expect(refused).rejects.toMatchObject({
          code: 'IMPORT_CONFLICT',
          details: { number: 2, reason: 'taken' },
        })
      }
    })

    test('leaves the database as it was if the last batch of an import in one transaction has a conflict', async () => {
      const before = await world.contents()
      const records = [...Array.from({ length: 30 }, (_, at) => ({ ...FULL, number: 1_000_000 + at })), plain(1)]
      await expect(world.importAtOnce('1', records, { batch: 10 })).rejects.toMatchObject({ code: 'IMPORT_CONFLICT' })
      expect(await world.contents()).toEqual(before)
      await world.importAtOnce('1', records.slice(0, -1), { batch: 10 })
      expect(await world.contents()).not.toEqual(before)
    })

    test('puts issues under the accounts of their authors for a site admin alone, as often as it is run', async () => {
      const number = 3_000_000
      const people = {
        poster_name: 'OLGA',
        assignees: ['walt', 'unknown-user'],
        reactions: [{ user_id: 8, user_name: 'sam', content: 'eyes' }],
      }
      const issue = plain(number, { ...people, poster_email: 'olga@example.org' })
      const records: readonly ExchangeRecord[] = [
        { kind: 'issue', issue },
        { kind: 'comment', comment: { ...COMMENT, issue_number: number, poster_name: 'zoe' } },
      ]
      const request = { repositoryId: '1', records }
      const options = { attribution: 'accounts', users: { zoe: 'mia' } } as const
      await expect(world.exchange.import(walt, request, options)).rejects.toMatchObject({ code: 'FORBIDDEN' })
      expect(await world.exchange.import(alice, request, options)).toMatchObject({
        issues: { ...NONE, created: 1 },
        comments: { ...NONE, created: 1 },
        unknownUsers: { total: 1, first: [{ name: 'unknown-user', count: 1 }] },
      })
      expect(await world.shown(number)).toMatchObject({
        user: { login: 'olga' },
        original_author: '',
        assignees: [{ login: 'walt' }],
        comments: 1,
      })
      for (const again of [options, {}, { users: { zoe: 'mia' } }]) {
        const report = await world.exchange.import(alice, request, again)
        expect(report).toMatchObject({ issues: { ...NONE, unchanged: 1 } })
      }
    })

    test('imports one document twice at once, and has nothing twice', async () => {
      const records = Array.from({ length: 100 }, (_, at) => [
        { kind: 'issue', issue: { ...FULL, number: at + 1 } } as const,
        { kind: 'comment', comment: { ...COMMENT, issue_number: at + 1 } } as const,
      ]).flat()
      const run = () => world.exchange.import('system', { repositoryId: '5', records }, { batch: 9 })
      const reports = await Promise.all([run(), run()])
      const created = reports.map(({ issues, comments }) => [issues.created, comments.created])
      expect(created.reduce(([issues = 0, comments = 0], [a = 0, b = 0]) => [issues + a, comments + b])).toEqual([
        100, 100,
      ])
      const all = await allOf(world.exchange.exportAll('system', '5'))
      expect(all.filter(({ kind }) => kind === 'issue' || kind === 'comment')).toEqual(records)
      expect(all.filter(({ kind }) => kind === 'milestone')).toHaveLength(1)
      expect(all.filter(({ kind }) => kind === 'label')).toHaveLength(3)
    })

    test('writes nothing more into a repository that is deleted meanwhile', async () => {
      async function* deletedAfterTen(): AsyncGenerator<IssueRecord> {
        for (let number = 2_000_001; number <= 2_000_030; number += 1) {
          if (number === 2_000_016) await world.forge.lifecycle.repositoryDeleted('3')
          yield plain(number)
        }
      }
      const request = { repositoryId: '3', records: deletedAfterTen() }
      const refused = world.exchange.import('system', request, { batch: 10 })
      await expect(refused).rejects.toMatchObject({ code: 'REPOSITORY_NOT_FOUND' })
      expect(JSON.parse(await world.exported('3'))).toHaveLength(12)
    })
  })
}

async function allOf<T>(records: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const record of records) all.push(record)
  return all
}

const COMMENT = {
  issue_number: 1,
  poster_id: 7,
  poster_name: 'yan',
  poster_email: 'yan@example.com',
  created: '2021-01-01T00:00:00Z',
  updated: '2021-01-02T00:00:00.500Z',
  content: 'Good \u{1f44d}\r\n',
}

/** Everything that an exchange carries, in the order and the form of an export. */
const RECORDS: readonly ExchangeRecord[] = [
  { kind: 'label', label: { name: 'bug', color: 'ee0701', description: 'Broken' } },
  { kind: 'label', label: { name: 'unused' } },
  {
    kind: 'milestone',
    milestone: { title: '1.0', description: 'First', deadline: '2030-01-01T00:00:00Z', state: 'open' },
  },
  {
    kind: 'milestone',
    milestone: { title: '2.0', created: '2020-01-01T00:00:00Z', closed: '2021-01-01T00:00:00Z', state: 'closed' },
  },
  {
    kind: 'milestone',
    milestone: {
      title: 'the first and the last year',
      deadline: '9999-12-31T23:59:59-05:00',
      created: '0000-01-01T00:00:00.500+01:00',
      updated: '2020-01-01T00:00:00Z',
      closed: '9999-12-31T20:00:00-23:59',
      state: 'closed',
    },
  },
  {
    kind: 'issue',
    issue: plain(3, { milestone: '1.0', labels: [{ name: 'bug', color: 'ee0701', description: 'Broken' }] }),
  },
  { kind: 'comment', comment: { ...COMMENT, issue_number: 3, reactions: [{ user_id: 7, content: '+1' }] } },
  { kind: 'comment', comment: { ...COMMENT, issue_number: 3, content: 'Again' } },
  { kind: 'issue', issue: plain(9) },
  { kind: 'comment', comment: { ...COMMENT, issue_number: 9 } },
]

/** The issues 1, as it is in the world, and 7, changed. */
function changed(): readonly IssueRecord[] {
  const mia = { poster_id: 3, poster_name: 'mia' }
  const [idea, bug] = [
    { name: 'idea', color: 'cccccc' },
    { name: 'bug', color: 'ee0701', description: 'Broken' },
  ]
  const times = { created: '2026-01-05T10:00:00Z', updated: '2026-02-01T09:30:00Z' }
  const same = { title: 'Read this first', content: 'Rules', labels: [idea, bug], assignees: ['olga', 'walt'] }
  return [plain(1, { ...mia, ...times, ...same }), plain(7, { ...mia, title: 'New' })]
}
