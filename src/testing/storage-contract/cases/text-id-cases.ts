import assert from 'node:assert/strict'
import { blockedBy, issuesOn, outbox, slugsHeldBy } from './contents.ts'
import { BOARD, block, define, grant, NOON, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, textIdCase } from './storage-case.ts'

/**
 * Texts that a database may treat as equal, because of case, blanks, digits, composition, or characters that it does
 * not know.
 */
const IDS = [
  'abc',
  'ABC',
  'Abc',
  'abc ',
  ' abc',
  'a bc',
  '7',
  '07',
  '7abc',
  '7.0',
  '0042',
  '42',
  '1e3',
  '1000',
  'é',
  'e\u0301',
  'ß',
  'ss',
  'SS',
  'ı',
  'i',
  'I',
  '🦉',
  '🦆',
  '𝒳',
  'X',
  '%',
  '_',
  "o'wl",
  'null',
  '00000000-0000-0000-0000-00000000000a',
  '00000000-0000-0000-0000-00000000000A',
  '9223372036854775808',
  '🦉'.repeat(32),
  'x'.repeat(64),
  `${'x'.repeat(63)}y`,
]

/** Cases about ids that may be any text: they are compared exactly and returned unchanged. */
export const textIdCases: readonly StorageCase[] = [
  textIdCase('text ids are returned unchanged by boards, blocks, grants and events', async (storage) => {
    await define(storage, 'a')
    for (const id of IDS) {
      await pin(storage, BOARD, id, { by: { actorId: id, at: () => NOON } })
      await block(storage, '20', id, { by: { actorId: id, at: () => NOON } })
    }
    const events = await outbox(storage)

    assert.deepEqual(await issuesOn(storage, BOARD), IDS)
    assert.deepEqual(await blockedBy(storage, '20'), IDS)
    assert.deepEqual(await storage.blocks.among('20', IDS), new Set(IDS))
    assert.deepEqual(
      events.filter((event) => event.type === 'issue.pinned').map((event) => [event.issueId, event.actorId]),
      IDS.map((id) => [id, id]),
    )
  }),

  textIdCase('text ids are compared exactly', async (storage) => {
    await define(storage, 'a')
    for (const [index, id] of IDS.entries()) {
      await pin(storage, { repositoryId: id, kind: 'issue' }, `issue ${index}`)
      await block(storage, id, `user ${index}`)
      if (index % 2 === 0) await grant(storage, id, ['a'])
    }

    for (const [index, id] of IDS.entries()) {
      assert.deepEqual(await issuesOn(storage, { repositoryId: id, kind: 'issue' }), [`issue ${index}`])
      assert.deepEqual(await blockedBy(storage, id), [`user ${index}`])
      assert.deepEqual(await slugsHeldBy(storage, id), index % 2 === 0 ? ['a'] : [])
      const page = await storage.events.list({ organizationId: id }, { from: { page: 1 }, limit: 10 })
      assert.deepEqual(
        page.items.map((event) => event.organizationId),
        [id],
      )
      assert.equal((await storage.events.history(`issue ${index}`)).length, 1)
    }
  }),

  textIdCase('retiring a text id leaves similar ids', async (storage) => {
    for (const id of IDS) await block(storage, '20', id)
    for (const id of ['abc', 'é', '7', '🦉']) {
      await retire(storage, { thing: 'user', userId: id })
      await retire(storage, { thing: 'issue', issueId: id, ...BOARD })
    }
    const left = IDS.filter((id) => !['abc', 'é', '7', '🦉'].includes(id))

    assert.deepEqual(await blockedBy(storage, '20'), left)
    for (const id of left) await pin(storage, BOARD, id)
    for (const id of ['abc', 'é', '7', '🦉']) {
      await refuses('USER_NOT_FOUND', () => block(storage, '21', id))
      await refuses('ISSUE_NOT_FOUND', () => pin(storage, BOARD, id))
    }
  }),
]
