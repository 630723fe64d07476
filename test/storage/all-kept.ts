import { expect } from 'vitest'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { define, grant, slugsHeldBy } from '../../src/testing/storage-contract/samples/badges.ts'
import { block, blocksOf } from '../../src/testing/storage-contract/samples/blocks.ts'
import { LATER, outbox } from '../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'

/** Ids that doubles do not hold, and one below zero. */
export const LARGE_IDS: readonly string[] = ['9007199254740993', '9223372036854775807', '-1']
const SLUGS = ['night-owl', 'Night-Owl', 'night-owl ', '🦉', '🦆']
const NOTE = ` \\ ' " ? $1 :name \n🦉 `

/** Writes what drivers and settings spoil (large ids, texts that look alike, quotes), and expects to read it as it was. */
export async function expectAllKept<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  for (const issueId of LARGE_IDS) await pin(storage, BOARD, issueId)
  for (const userId of LARGE_IDS) await block(storage, '20', userId, { note: NOTE })
  for (const slug of SLUGS) await define(storage, slug)
  await grant(storage, '30', SLUGS.toReversed())
  const events = await storage.events.list({ types: ['issue.pinned'] }, { from: { page: 1 }, limit: 9 })

  expect(await issuesOn(storage, BOARD)).toEqual(LARGE_IDS)
  expect((await blocksOf(storage, '20')).map(({ userId, note }) => [userId, note])).toEqual(
    LARGE_IDS.map((id) => [id, NOTE]),
  )
  const catalogue = await storage.badgeCatalogue.page({ from: { page: 1 }, limit: 9 })
  expect(catalogue.items.map(({ slug }) => slug)).toEqual(SLUGS)
  expect(new Set(await slugsHeldBy(storage, '30'))).toEqual(new Set(SLUGS))
  expect(await storage.blocks.among('20', ['9007199254740992', ...LARGE_IDS])).toEqual(new Set(LARGE_IDS))
  expect(events.items.map((event) => event.issueId)).toEqual(LARGE_IDS.toReversed())
  const reader = { name: 'mail', holder: 'one' }
  const { cursor } = await storage.events.read({
    after: (await storage.events.claim(reader, 60_000))?.cursor,
    limit: 100,
  })
  expect(await storage.events.advance(reader, cursor)).toBe(true)
  expect((await outbox(storage)).map((event) => event.type)).toEqual([
    ...['issue.pinned', 'issue.pinned', 'issue.pinned', 'user.blocked', 'user.blocked', 'user.blocked'],
    ...SLUGS.map(() => 'badge.defined'),
    ...SLUGS.map(() => 'badge.granted'),
  ])
  expect(await storage.events.prune(LATER)).toBe(LARGE_IDS.length + 2 * SLUGS.length)
}
