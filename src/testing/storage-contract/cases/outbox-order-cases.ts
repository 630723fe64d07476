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

  hostCase(
    'an event of a host’s transaction that commits late is read after the commit, and delays no other',
    ['again', 'begin'],
    async (storage, bench) => {
      const reader = new OutboxReader(await bench.again())
      const { transaction, commit } = await bench.begin()
      await pin(storage, BOARD, '1', { transaction })
      const quick = pin(storage, QUICK, '2')
      await whileWaiting(quick)
      await reader.readToEnd()
      assert.ok(!reader.issueIds.includes('1'), 'uncommitted events are not returned')
      await commit()
      await quick
      await reader.readToEnd()

      assert.deepEqual(reader.issueIds.toSorted(), ['1', '2'])
    },
  ),

  hostCase(
    'an event of a host’s transaction that is rolled back is never read',
    ['again', 'begin'],
    async (storage, bench) => {
      const reader = new OutboxReader(await bench.again())
      const { transaction, rollback } = await bench.begin()
      await pin(storage, BOARD, '1', { transaction })
      await reader.readToEnd()
      await rollback()
      await pin(storage, BOARD, '2')
      await reader.readToEnd()

      assert.deepEqual(reader.issueIds, ['2'])
    },
  ),

  ...raceCases('a reader beside twenty writers that pause misses no event and reads none twice', async (one, other) => {
    const reader = new OutboxReader(other)
    let writing = true
    const writers = idsTo(20).map((n) => writeSlowly(Number(n) % 2 === 0 ? one : other, n))
    const finished = atOnce(writers).finally(() => {
      writing = false
    })
    finished.catch(() => undefined) // awaited below, but a read may fail first
    while (writing) {
      await reader.readOn(7)
      await turns(1)
    }
    await finished
    await reader.readToEnd()

    assert.equal(reader.issueIds.length, 100)
    assert.equal(new Set(reader.issueIds).size, 100)
    assert.deepEqual(await issuesOf(one), reader.issueIds)
  }),

  ...raceCases('two concurrent readers read the same order', async (one, other) => {
    const readers = [new OutboxReader(one), new OutboxReader(other)]
    const writers = atOnce(idsTo(10).map((n) => writeSlowly(one, n)))
    writers.catch(() => undefined) // awaited below, but a read may fail first
    for (let round = 0; round < 20; round += 1) await Promise.all(readers.map((reader) => reader.readOn(5)))
    await writers
    for (const reader of readers) await reader.readToEnd()
    const [first, second] = readers

    assert.equal(first?.issueIds.length, 50)
    assert.deepEqual(second?.issueIds, first?.issueIds)
  }),
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
