import assert from 'node:assert/strict'
import { blockedBy, blocksOf, catalogueOf, issuesOn, outbox, slugsHeldBy } from './contents.ts'
import { BOARD, block, change, define, grant, NO_SUBJECT, pin, retire } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

const IDS = [
  '0',
  '1',
  '-1',
  '2147483648',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775806',
  '9223372036854775807',
  '-9223372036854775808',
]

const TEXTS = [
  '',
  ' ',
  'naïve café',
  'e\u0301 is not é',
  '🦉🦆 👩‍👩‍👧‍👦',
  '𝒳𐍈𠀀',
  'שלום עולם',
  '日本語',
  `quotes ' " \` and back\\slash`,
  '%_; -- /* drop table */',
  'line one\nline two\r\n\ttab',
  ' spaces kept ',
  '0042',
  '1e3',
  'null',
  '🦉'.repeat(255),
]

/** Cases about values: ids and texts are returned as they were stored. */
export const valueCases: readonly StorageCase[] = [
  storageCase('64-bit ids are returned unchanged by boards, blocks and events', async (storage) => {
    for (const id of IDS) {
      await pin(storage, BOARD, id, { by: { actorId: id, at: () => new Date(0) } })
      await block(storage, '20', id)
    }
    const events = await outbox(storage)

    assert.deepEqual(await issuesOn(storage, BOARD), IDS)
    assert.deepEqual(await blockedBy(storage, '20'), IDS)
    assert.deepEqual(await storage.blocks.among('20', IDS), new Set(IDS))
    assert.deepEqual(
      events.filter((event) => event.type === 'issue.pinned').map((event) => [event.issueId, event.actorId]),
      IDS.map((id) => [id, id]),
    )
    assert.deepEqual(
      events.filter((event) => event.type === 'user.blocked').map((event) => event.userId),
      IDS,
    )
  }),

  storageCase('64-bit ids identify different repositories, organizations and users', async (storage) => {
    await define(storage, 'a')
    for (const [index, id] of IDS.entries()) {
      await pin(storage, { repositoryId: id, kind: 'issue' }, String(index))
      await block(storage, id, String(index))
      if (index % 2 === 0) await grant(storage, id, ['a'])
    }
    for (const [index, id] of IDS.entries()) {
      assert.deepEqual(await issuesOn(storage, { repositoryId: id, kind: 'issue' }), [String(index)])
      assert.deepEqual(await blockedBy(storage, id), [String(index)])
      assert.deepEqual(await slugsHeldBy(storage, id), index % 2 === 0 ? ['a'] : [])
      const { items } = await storage.events.list({ repositoryId: id }, { from: { page: 1 }, limit: 10 })
      assert.deepEqual(
        items.map((event) => event.repositoryId),
        [id],
      )
    }
  }),

  storageCase('retiring an id beyond 2^53 leaves its neighbours', async (storage) => {
    for (const id of IDS) await pin(storage, { repositoryId: id, kind: 'issue' }, id)
    await retire(storage, { thing: 'repository', repositoryId: '9007199254740993' })
    await retire(storage, {
      thing: 'issue',
      issueId: '9223372036854775807',
      repositoryId: '9223372036854775807',
      kind: 'issue',
    })

    await refuses('REPOSITORY_NOT_FOUND', () =>
      storage.pinBoards.load({ repositoryId: '9007199254740993', kind: 'issue' }),
    )
    await refuses('ISSUE_NOT_FOUND', () => pin(storage, BOARD, '9223372036854775807'))
    await pin(storage, BOARD, '9223372036854775806')
    for (const id of ['9007199254740991', '9007199254740992', '9223372036854775806']) {
      assert.deepEqual(await issuesOn(storage, { repositoryId: id, kind: 'issue' }), [id])
    }
  }),

  storageCase('texts are returned unchanged', async (storage) => {
    for (const [index, note] of TEXTS.entries()) {
      await block(storage, '20', String(index), { note })
      await change(storage.badgeCatalogue, { slug: slugOf(note) }, (entry) => ({
        state: { ...entry, badge: { id: entry.nextId, slug: slugOf(note), description: note, imageUrl: note } },
        events: [{ ...NO_SUBJECT, type: 'badge.defined', data: { slug: slugOf(note) } }],
        result: undefined,
      }))
    }
    const badges = await Promise.all(TEXTS.map((text) => storage.badgeCatalogue.find(slugOf(text))))
    const events = await outbox(storage)

    assert.deepEqual(
      (await blocksOf(storage, '20')).map((one) => one.note),
      TEXTS,
    )
    assert.deepEqual(
      badges.map((badge) => [badge?.description, badge?.imageUrl]),
      TEXTS.map((text) => [text, text]),
    )
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'user.blocked' ? [event.data.note] : [])),
      TEXTS,
    )
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'badge.defined' ? [event.data.slug] : [])),
      TEXTS.map(slugOf),
    )
  }),

  storageCase('times are returned to the millisecond', async (storage) => {
    const times = [0, 1, -1, 1_715_000_000_123, 253_402_300_799_999].map((time) => new Date(time))
    const rows = times.map((pinnedAt, index) => ({ issueId: String(index), pinnedAt, pinnedBy: null }))
    await change(storage.pinBoards, BOARD, () => ({ state: rows, events: [], result: undefined }))

    assert.deepEqual(
      (await storage.pinBoards.load(BOARD)).map((row) => row.pinnedAt),
      times,
    )
  }),

  storageCase('the longest texts are stored completely, in characters of one byte and of four', async (storage) => {
    for (const [index, character] of ['x', 'é', '日', '🦉'].entries()) {
      const [slug, note] = [character.repeat(255), character.repeat(255)]
      const [description, imageUrl] = [character.repeat(4000), character.repeat(2048)]
      await change(storage.badgeCatalogue, { slug }, (entry) => ({
        state: { ...entry, badge: { id: entry.nextId, slug, description, imageUrl } },
        events: [{ ...NO_SUBJECT, type: 'badge.defined', data: { slug } }],
        result: undefined,
      }))
      await block(storage, '20', String(index), { note })
      const badge = await storage.badgeCatalogue.find(slug)

      assert.deepEqual([badge?.slug, badge?.description, badge?.imageUrl], [slug, description, imageUrl])
      assert.equal((await storage.blocks.find({ organizationId: '20', userId: String(index) }))?.note, note)
    }
    const recorded = (await outbox(storage)).map((event) => event.data)

    assert.deepEqual(recorded[6], { slug: '🦉'.repeat(255) })
    assert.deepEqual(recorded[7], { note: '🦉'.repeat(255) })
  }),

  storageCase('slugs that differ only in their last character are different', async (storage) => {
    const slugs = ['a', 'b', ' ', '', '\u00a0', '🦉'].map((end) => `${'x'.repeat(254)}${end}`)
    for (const slug of slugs) await define(storage, slug)

    assert.deepEqual(await catalogueOf(storage), slugs)
    for (const slug of slugs) assert.equal((await storage.badgeCatalogue.find(slug))?.slug, slug)
  }),
]

/** Shortens a text to the maximum length of a slug. */
function slugOf(text: string): string {
  return [...`slug ${text}`].slice(0, 255).join('')
}
