import assert from 'node:assert/strict'
import type { MaybePromise, Page } from '../../../index.ts'
import type { ForgeStorage, PageQuery } from '../../../storage/storage.ts'
import { define, grant, removeBadge, revoke } from '../samples/badges.ts'
import { block, blockByUser, unblock, unblockByUser } from '../samples/blocks.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, fillBoard, issuesOn, pin } from '../samples/pin-boards.ts'
import { turns } from './gate.ts'
import { idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase } from './storage-case.ts'

/** A list of things that are named by texts. The badge `owl` is defined. */
interface ChangingList {
  readonly name: string
  add<Tx>(storage: ForgeStorage<Tx>, name: string): Promise<unknown>
  remove<Tx>(storage: ForgeStorage<Tx>, name: string): Promise<unknown>
  page<Tx>(storage: ForgeStorage<Tx>, query: PageQuery, transaction?: Tx): MaybePromise<Page<object> | undefined>
}

const LISTS: readonly ChangingList[] = [
  {
    name: 'blocks',
    add: (storage, userId) => block(storage, '20', userId),
    remove: (storage, userId) => unblock(storage, '20', userId),
    page: (storage, query, transaction) => storage.blocks.page('20', query, transaction),
  },
  {
    name: 'blocks by a user',
    add: (storage, userId) => blockByUser(storage, '20', userId),
    remove: (storage, userId) => unblockByUser(storage, '20', userId),
    page: (storage, query, transaction) => storage.userBlocks.page('20', query, transaction),
  },
  {
    name: 'definitions',
    add: (storage, slug) => define(storage, slug),
    remove: (storage, slug) => removeBadge(storage, slug),
    page: (storage, query, transaction) => storage.badgeCatalogue.page(query, transaction),
  },
  {
    name: 'the holders of a badge',
    add: (storage, userId) => grant(storage, userId, ['owl']),
    remove: (storage, userId) => revoke(storage, userId, ['owl']),
    page: (storage, query, transaction) => storage.userBadges.holders('owl', query, transaction),
  },
]

/** Pages near both ends of a list, and one page with all items. */
const PAGES: readonly { readonly page: number; readonly limit: number }[] = [
  { page: 1, limit: 1000 },
  { page: 2, limit: 3 },
  { page: 4, limit: 3 },
]

/** Cases about readers next to writers: a reader never sees a partial change. */
export const readerCases: readonly StorageCase[] = [
  ...raceCases('a board that is constantly reversed is always read consistently', async (writer, reader) => {
    const issueIds = idsTo(6)
    for (const issueId of issueIds) await pin(writer, BOARD, issueId)
    await beside(
      async () => {
        for (let n = 0; n < 40; n += 1) await turn(writer)
      },
      async () => {
        const read = await issuesOn(reader, BOARD)
        const start = issueIds.indexOf(read[0] ?? '')
        assert.deepEqual(read, [...issueIds.slice(start), ...issueIds.slice(0, start)])
        const positions = await reader.pinBoards.positions(issueIds.map((issueId) => ({ issueId, ...BOARD })))
        const [first = 1] = positions
        assert.deepEqual(
          positions,
          issueIds.map((_, index) => 1 + ((first - 1 + index) % issueIds.length)),
        )
      },
    )
  }),

  ...LISTS.flatMap((list) =>
    raceCases(`page and total agree while ${list.name} are added and removed`, async (writer, reader) => {
      await define(writer, 'owl')
      await beside(
        () => addAndRemove(list, writer),
        () => checkPages(list, reader),
      )
    }),
  ),

  ...(['beginSnapshot', 'beginReadCommitted'] as const).map((begin) =>
    hostCase(
      `page and total agree in a host’s transaction that ${begin === 'beginSnapshot' ? 'reads from a snapshot' : 'reads what is committed'}, while blocks, definitions and grants are added and removed`,
      [begin],
      async (storage, bench) => {
        await define(storage, 'owl')
        const { transaction, rollback } = await bench.begin(begin)
        await beside(
          async () => void (await Promise.all(LISTS.map((list) => addAndRemove(list, storage)))),
          async () => {
            for (const list of LISTS) await checkPages(list, storage, transaction)
          },
        )
        await rollback()
      },
    ),
  ),

  ...raceCases(
    'a pin on the board is in the history, and a pin in the outbox is on the board',
    async (writer, reader) => {
      await beside(
        async () => {
          for (const issueId of idsTo(40)) await pin(writer, BOARD, issueId)
        },
        async () => {
          const recorded = (await outbox(reader)).map((event) => event.issueId)
          const read = await issuesOn(reader, BOARD)
          assert.deepEqual(read.slice(0, recorded.length), recorded)
          const newest = read.at(-1)
          if (newest !== undefined) assert.equal((await reader.events.history(newest)).length, 1)
        },
      )
    },
  ),
]

/** Makes a list longer and shorter again, at different paces. */
async function addAndRemove<Tx>({ add, remove }: ChangingList, storage: ForgeStorage<Tx>): Promise<void> {
  for (const n of idsTo(9)) await add(storage, n)
  for (const [pause, wave] of ['20', '30', '40', '50', '60', '70'].entries()) {
    const names = idsTo(6).map((n) => `${wave}${n}`)
    for (const name of names) await add(storage, name)
    await turns(pause)
    for (const name of names.slice(pause)) {
      await remove(storage, name)
      await turns(pause % 3)
    }
  }
}

/**
 * Reads pages of a changing list. Each page must have as many items as its own total implies, and a cursor if more
 * items follow.
 */
async function checkPages<Tx>(list: ChangingList, storage: ForgeStorage<Tx>, transaction?: Tx): Promise<void> {
  const read = async (query: PageQuery) => {
    const found = await list.page(storage, query, transaction)
    assert.ok(found, 'the list exists')
    return found
  }
  for (const { page, limit } of PAGES) {
    const { items, total, cursor } = await read({ from: { page }, limit })
    assert.ok(total !== undefined, 'a page by number has a total')
    assert.equal(items.length, Math.max(0, Math.min(limit, total - (page - 1) * limit)), `page ${page} of ${total}`)
    assert.equal(cursor !== undefined, page * limit < total)
    assert.equal(new Set(items.map((item) => JSON.stringify(item))).size, items.length)
    if (cursor === undefined) continue

    const next = await read({ from: { after: cursor }, limit: 1000 })
    assert.ok(next.items.length <= (next.total ?? Number.POSITIVE_INFINITY), 'a list is no longer than its total')
  }
}

/** Repeats a check while work runs, and once after it. */
async function beside(work: () => Promise<void>, look: () => Promise<void>): Promise<void> {
  let working = true
  const finished = work().finally(() => {
    working = false
  })
  finished.catch(() => undefined) // awaited below, but a check may fail first
  while (working) {
    await look()
    await turns(1)
  }
  await finished
  await look()
}

/** Moves the first issue of a board to the end, so that every row changes its position. */
async function turn<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  const [first, ...rest] = await issuesOn(storage, BOARD)
  if (first !== undefined) await fillBoard(storage, BOARD, [...rest, first])
  await turns(1)
}
