import assert from 'node:assert/strict'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { issuesOn, outbox } from './contents.ts'
import { turns } from './gate.ts'
import { idsTo, raceCases } from './race.ts'
import { BOARD, block, change, NO_SUBJECT, pin, unblock, unpin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'

/** Readers beside writers: nobody sees half a change. */
export const readerCases: readonly StorageCase[] = [
  ...raceCases('a board that is turned all the time is always read whole', async (writer, reader) => {
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
      },
    )
  }),

  ...raceCases('page and total agree while blocks come and go', async (writer, reader) => {
    for (const userId of idsTo(9)) await block(writer, '20', userId)
    await beside(
      async () => {
        const waves = ['20', '30', '40', '50', '60', '70']
        for (const [pause, wave] of waves.entries()) {
          const users = idsTo(6).map((n) => `${wave}${n}`)
          for (const userId of users) await block(writer, '20', userId)
          await turns(pause)
          for (const userId of users.slice(pause)) {
            await unblock(writer, '20', userId)
            await turns(pause % 3)
          }
        }
      },
      async () => {
        const page = await reader.blocks.page('20', { from: { page: 1 }, limit: 1000 })
        assert.equal(page.items.length, page.total)
        const users = page.items.map((one) => one.userId)
        assert.equal(new Set(users).size, users.length)
      },
    )
  }),

  ...raceCases('the audit view and its total agree while events come', async (writer, reader) => {
    await beside(
      async () => {
        for (const issueId of idsTo(40)) await pin(writer, BOARD, issueId)
      },
      async () => {
        const page = await reader.events.list({}, { from: { page: 1 }, limit: 1000 })
        assert.equal(page.items.length, page.total)
      },
    )
  }),

  ...raceCases(
    'a pin that is on the board is in the history, and one that was told is on the board',
    async (writer, reader) => {
      await beside(
        async () => {
          for (const issueId of idsTo(40)) await pin(writer, BOARD, issueId)
        },
        async () => {
          const told = (await outbox(reader)).map((event) => event.issueId)
          const read = await issuesOn(reader, BOARD)
          assert.deepEqual(read.slice(0, told.length), told)
          const newest = read.at(-1)
          if (newest !== undefined) assert.equal((await reader.events.history(newest)).length, 1)
        },
      )
    },
  ),

  ...raceCases('changes of two boards in one batch of writers are each seen whole', async (writer, reader) => {
    const other = { ...BOARD, repositoryId: '11' }
    await beside(
      async () => {
        for (let n = 0; n < 20; n += 1) {
          await Promise.all([pin(writer, BOARD, '1'), pin(writer, other, '2')])
          await Promise.all([unpin(writer, BOARD, '1'), unpin(writer, other, '2')])
        }
      },
      async () => {
        for (const [board, issueId] of [[BOARD, '1'] as const, [other, '2'] as const]) {
          const read = await issuesOn(reader, board)
          assert.ok(read.length === 0 || (read.length === 1 && read[0] === issueId))
        }
      },
    )
  }),
]

/** Repeats a look while work goes on, and once behind it. */
async function beside(work: () => Promise<void>, look: () => Promise<void>): Promise<void> {
  let working = true
  const finished = work().finally(() => {
    working = false
  })
  finished.catch(() => undefined) // awaited below, but a look may fail before
  while (working) {
    await look()
    await turns(1)
  }
  await finished
  await look()
}

/** Moves the first of a board to its end: every row changes its place. */
async function turn<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  await change(storage.pinBoards, BOARD, (rows) => {
    const data = { from: 1, to: rows.length }
    const issueId = rows[0]?.issueId ?? null
    return {
      state: [...rows.slice(1), ...rows.slice(0, 1)],
      events: [{ ...NO_SUBJECT, type: 'issue.moved', data, repositoryId: BOARD.repositoryId, issueId }],
      result: undefined,
    }
  })
  await turns(1)
}
