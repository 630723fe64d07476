import { expect, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import {
  BOARD,
  change,
  define,
  grant,
  NO_SUBJECT,
  NOON,
  pin,
} from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onMariadb } from './host-database.ts'

const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'
const OTHER_UUID = 'ffffffff-ffff-4fff-bfff-ffffffffffff'

onMariadb((open) => {
  test('ids that are UUIDs come out as they went in', async () => {
    const database = await open()
    const storage = database.storage(undefined, {
      prefix: 'uuid_',
      ids: { user: 'uuid', organization: 'uuid', repository: 'uuid', issue: 'uuid' },
    })
    await storage.migrate()
    const by = { actorId: UUID, at: () => new Date(NOON) }
    const board = { ...BOARD, repositoryId: UUID }
    const event = { ...NO_SUBJECT, type: 'issue.pinned' as const, repositoryId: UUID, issueId: OTHER_UUID }
    await change(
      storage.pinBoards,
      board,
      (_, pinnedAt) => ({
        state: [{ issueId: OTHER_UUID, pinnedAt, pinnedBy: UUID }],
        events: [{ ...event, data: { position: 1 } }],
        result: undefined,
      }),
      { by },
    )
    const blocked = { organizationId: UUID, userId: OTHER_UUID }
    await change(storage.blocks, blocked, (_, blockedAt) => ({
      state: { ...blocked, note: '', blockedAt, blockedBy: null },
      events: [],
      result: undefined,
    }))
    const { items } = await storage.events.list({ repositoryId: UUID }, { from: { page: 1 }, limit: 10 })

    expect(await storage.pinBoards.load(board)).toEqual([{ issueId: OTHER_UUID, pinnedAt: NOON, pinnedBy: UUID }])
    expect(await storage.blocks.among(UUID, [UUID, OTHER_UUID])).toEqual(new Set([OTHER_UUID]))
    expect(items.map(({ issueId, actorId }) => [issueId, actorId])).toEqual([[OTHER_UUID, UUID]])
  })

  test('tables that were made for other ids are refused', async () => {
    const database = await open()
    const storage = database.storage(undefined, { ids: { issue: 'text' } })

    await expect(issuesOn(storage, BOARD)).rejects.toThrow(TypeError)
    await expect(issuesOn(storage, BOARD)).rejects.toThrow(/stores issue ids as bigint/)
  })

  test('the host joins its tables with the views, by index', async () => {
    const database = await open()
    const storage = database.storage()
    await define(storage, 'night-owl')
    await grant(storage, '9007199254740993', ['night-owl'])
    await pin(storage, BOARD, '9007199254740993')
    await database.run('create table host_users (id bigint primary key, name varchar(20)) engine = InnoDB')
    await database.run("insert into host_users values (9007199254740992, 'one less'), (9007199254740993, 'owl')")

    const sql =
      'select name, slug, kind from host_users inner join forgelet_badge_grants on user_id = id ' +
      'inner join forgelet_pins on issue_id = id where id = 9007199254740993'
    expect(await database.run(sql)).toEqual([{ name: 'owl', slug: 'night-owl', kind: 'issue' }])
    const plan = await database.run(`explain ${sql}`)
    expect(plan.map(({ type }) => type)).not.toContain('ALL')
  })

  test('a key that is written out keeps case and blanks apart in plain SQL too', async () => {
    const database = await open()
    const storage = database.storage()
    for (const slug of ['night-owl', 'Night-Owl', 'night-owl ']) await define(storage, slug)

    expect(await database.run("select slug from forgelet_badges where slug = 'night-owl'")).toEqual([
      { slug: 'night-owl' },
    ])
  })
})
