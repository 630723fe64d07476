import assert from 'node:assert/strict'
import type { Id } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { outbox } from '../samples/outbox.ts'
import { BOARD, pin } from '../samples/pin-boards.ts'
import { heldInBeforeCommit, turns, whileWaiting } from './gate.ts'
import { atOnce, idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

const QUICK = { ...BOARD, repositoryId: '11' }
/** A time limit for work that must not wait, in milliseconds. */
const LONG_ENOUGH = 1000

/**
 * Cases about events of long transactions: no one waits for them, and no reader misses them.
 * Source: docs/storage.md, section 5
 */
export const outboxOrderCases: readonly StorageCase[] = [
  ...raceCases('an event committed after a later one was read is read next', async (one, other) => {
    const reader = new OutboxReader(other)
    await reader.readToEnd()
    const slow = await heldInBeforeCommit((beforeCommit) => pin(one, BOARD, '1', { beforeCommit }))
    const quick = pin(other, QUICK, '2')
    await whileWaiting(quick, LONG_ENOUGH)
    const read = reader.readToEnd()
    await whileWaiting(read, LONG_ENOUGH)
    slow.release()
    const refused = 'thrown' in (await slow.outcome)
    await quick
    await read
    await reader.readToEnd()

    assert.deepEqual(reader.issueIds.toSorted(), refused ? ['2'] : ['1', '2'])
    assert.deepEqual(await issuesOf(one), reader.issueIds)
  }),

  ...(['commit', 'rollback'] as const).map((end) =>
    hostCase(
      `an event of a host’s transaction ${end === 'commit' ? 'that commits late is read and listed after the commit, and delays no other' : 'that is rolled back is never read, and never listed'}`,
      ['again', 'begin'],
      async (storage, bench) => {
        const elsewhere = await bench.again()
        const reader = new OutboxReader(elsewhere)
        const host = await bench.begin()
        await pin(storage, BOARD, '1', { transaction: host.transaction })
        const quick = pin(storage, QUICK, '2')
        await whileWaiting(quick)
        const early = [await listedIn(elsewhere), await listedIn(elsewhere)].flat()
        await reader.readToEnd()
        assert.ok(![...early, ...reader.issueIds].includes('1'), 'uncommitted events are not returned')
        await host[end]()
        await quick
        const expected = end === 'commit' ? ['1', '2'] : ['2']

        for (let look = 0; look < 2; look += 1) {
          assert.deepEqual((await listedIn(elsewhere)).toSorted(), expected)
          await reader.readToEnd()
        }
        assert.deepEqual(reader.issueIds.toSorted(), expected)
      },
    ),
  ),

  ...raceCases(
    'readers beside twenty writers that pause read the same order, and every event once',
    async (one, other) => {
      const readers = [new OutboxReader(one), new OutboxReader(other)]
      let writing = true
      const finished = atOnce(idsTo(20).map((n) => writeSlowly(Number(n) % 2 === 0 ? one : other, n))).finally(() => {
        writing = false
      })
      finished.catch(() => undefined) // awaited below, but a read may fail first
      while (writing) {
        await Promise.all(readers.map((reader, at) => reader.readOn(5 + 2 * at)))
        await turns(1)
      }
      await finished
      const written = await issuesOf(one)

      assert.equal(new Set(written).size, 100)
      for (const reader of readers) {
        await reader.readToEnd()
        assert.deepEqual(reader.issueIds, written)
      }
    },
  ),
]

/** Reads the outbox from cursor to cursor. */
class OutboxReader<Tx> {
  readonly issueIds: (Id | null)[] = []
  readonly #storage: ForgeStorage<Tx>
  #after: string | undefined

  constructor(storage: ForgeStorage<Tx>) {
    this.#storage = storage
  }

  async readOn(limit: number): Promise<number> {
    const { events, cursor } = await this.#storage.events.read({ after: this.#after, limit })
    this.issueIds.push(...events.map((event) => event.issueId))
    this.#after = cursor
    return events.length
  }

  async readToEnd(): Promise<void> {
    while ((await this.readOn(100)) > 0);
  }
}

/** Returns the issues of all events in the audit view. */
async function listedIn<Tx>(storage: ForgeStorage<Tx>): Promise<readonly (Id | null)[]> {
  return (await storage.events.list({}, { from: { page: 1 }, limit: 1000 })).items.map((event) => event.issueId)
}

async function issuesOf<Tx>(storage: ForgeStorage<Tx>): Promise<readonly (Id | null)[]> {
  return (await outbox(storage)).map((event) => event.issueId)
}

/** Pins five issues on a separate board. Each transaction pauses, if the storage allows it to wait. */
async function writeSlowly<Tx>(storage: ForgeStorage<Tx>, n: string): Promise<void> {
  const board = { ...BOARD, repositoryId: n }
  for (let each = 0; each < 5; each += 1) {
    const pauses = (Number(n) * 7 + each * 3) % 5
    const outcome = await outcomeOf(() => pin(storage, board, `${n}0${each}`, { beforeCommit: () => turns(pauses) }))
    if ('thrown' in outcome && outcome.thrown instanceof TypeError) await pin(storage, board, `${n}0${each}`)
    else if ('thrown' in outcome) throw outcome.thrown
    await turns(pauses)
  }
}
