import assert from 'node:assert/strict'
import type { Id } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { Consumer, ForgeStorage } from '../../../storage/storage.ts'
import { eventsOrPruned, LATER, note, outbox } from '../samples/outbox.ts'
import { BOARD, pin } from '../samples/pin-boards.ts'
import { heldInBeforeCommit, turns, whileWaiting } from './gate.ts'
import { atOnce, idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf, refuses, storageCase } from './storage-case.ts'

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

const LONG = 3_600_000
const MAIL: Consumer = { name: 'mail', holder: 'one' }
const RIVAL: Consumer = { name: 'mail', holder: 'other' }
const NAMES = [
  ...['mail', 'Mail', 'mail ', ' mail', 'ma\u00efl', 'mai\u0308l', 'm', "'; --"],
  ...['✉️'.repeat(32), '🦉'.repeat(64)],
]

/** Cases about the consumers of the outbox: one holder at a time moves a cursor. Source: docs/storage.md, section 5 */
export const consumerCases: readonly StorageCase[] = [
  storageCase('a cursor never moves back, and only to cursors of the outbox', async (storage) => {
    const cursors = await threePins(storage)
    await storage.events.claim(MAIL, LONG)
    await storage.events.advance(MAIL, cursors[2])
    assert.equal(await storage.events.advance(MAIL, cursors[0]), true)
    const { cursor: foreign = '' } = await storage.events.list({}, { from: { page: 1 }, limit: 1 })
    for (const text of ['', 'x', '-1', foreign]) {
      await refuses('INVALID_INPUT', () => storage.events.advance(MAIL, text))
    }

    assert.deepEqual(await storage.events.claim(MAIL, LONG), { cursor: cursors[2] })
  }),

  {
    name: 'a cursor beyond the last event, as after a restore, is refused, and moves no consumer',
    needs: [],
    async run(open, host) {
      const lost = await open()
      const [, second, third] = await threePins(lost)
      await lost.close()
      await storageCase(this.name, (restored) => refusesAhead(restored, second, third)).run(open, host)
    },
  },

  storageCase('consumer names and holders are compared exactly', async (storage) => {
    for (const name of NAMES)
      assert.notEqual(await storage.events.claim({ name, holder: 'one' }, LONG), undefined, name)
    for (const name of NAMES) {
      for (const holder of ['One', 'one ', 'öne']) {
        assert.equal(await storage.events.claim({ name, holder }, LONG), undefined, `${name} of ${holder}`)
      }
      assert.equal(await storage.events.forget(name), true, name)
    }
  }),

  storageCase('an expired lease is free, and its former holder moves nothing', async (storage) => {
    const [cursor] = await threePins(storage)
    const first = await storage.events.claim(MAIL, LONG)
    await storage.events.claim(MAIL, 1)
    await pause(20)
    assert.equal(await storage.events.advance(MAIL, cursor), false, 'the lease has expired')
    assert.deepEqual(await storage.events.claim(MAIL, 1), first, 'a holder renews its lease')
    await pause(20)
    const taken = await storage.events.claim(RIVAL, LONG)
    assert.equal(await storage.events.advance(MAIL, cursor), false, 'another holder has the lease')
    assert.equal(await storage.events.claim(MAIL, LONG), undefined)

    assert.notEqual(taken, undefined)
    assert.deepEqual(await storage.events.claim(RIVAL, LONG), taken)
  }),

  ...raceCases('of forty holders that claim a new or free consumer concurrently, one gets it', async (one, other) => {
    for (let round = 0; round < 5; round += 1) {
      assert.equal(await claimsGiven(one, other), 1)
      await one.events.forget(MAIL.name)
      if (round === 2) continue

      await one.events.claim(MAIL, LONG)
      await one.events.release(MAIL)
    }
  }),

  ...raceCases('only the holder of the lease moves the cursor, whatever others try meanwhile', async (one, other) => {
    const [cursor] = await threePins(one)
    await one.events.claim(MAIL, LONG)
    const tries = await Promise.all(
      idsTo(20).flatMap((holder) => [
        Promise.resolve(other.events.claim({ name: 'mail', holder }, LONG)),
        Promise.resolve(other.events.advance({ name: 'mail', holder }, cursor)),
      ]),
    )

    for (const outcome of tries) assert.ok(outcome === undefined || outcome === false)
    assert.equal(await one.events.advance(MAIL, cursor), true)
  }),
]

/**
 * Cases about the events that a prune removes and keeps, and about readers that miss some: they receive an error.
 * Source: docs/storage.md, section 5
 */
export const pruneCases: readonly StorageCase[] = [
  ...raceCases('two concurrent prunes remove every event once', async (one, other) => {
    await note(one, 1200)
    await pin(one, BOARD, '1')
    const removed = await Promise.all([one, other].map(async (storage) => storage.events.prune(LATER)))

    assert.equal((removed[0] ?? 0) + (removed[1] ?? 0), 1200)
    assert.equal((await one.events.list({}, { from: { page: 1 }, limit: 2000 })).items.length, 1)
  }),

  ...raceCases('a reader misses no event while events are removed, or is refused', async (one, other) => {
    await note(one, 1200)
    const all = (await outbox(one)).map((event) => event.id)
    const start = (await one.events.claim(MAIL, LONG))?.cursor
    await one.events.forget(MAIL.name)
    let pruning = true
    const pruned = Promise.resolve(one.events.prune(LATER)).finally(() => {
      pruning = false
    })
    pruned.catch(() => undefined) // awaited below, but a read may fail first
    do {
      const read = await eventsOrPruned(other, start)
      if (read === 'pruned') break
      const ids = read.map((event) => event.id)
      assert.deepEqual(ids, all.slice(0, 1000))
      await turns(1)
    } while (pruning)

    assert.equal(await pruned, 1200)
    assert.equal(await eventsOrPruned(other, start), 'pruned')
  }),

  ...raceCases('a consumer created while events are removed begins after them', async (one, other) => {
    await note(one, 1200)
    const names = idsTo(20)
    const [removed, ...claims] = await Promise.all([
      Promise.resolve(one.events.prune(LATER)),
      ...names.map(async (name) => other.events.claim({ ...MAIL, name }, LONG)),
    ])
    for (const claim of claims) {
      assert.ok(claim !== undefined, 'every consumer is created')
      assert.notEqual(await eventsOrPruned(other, claim.cursor), 'pruned')
    }

    assert.equal((await one.events.list({}, { from: { page: 1 }, limit: 2000 })).items.length, 1200 - Number(removed))
  }),
]

/** Pins three issues, and returns the cursors behind each event. */
async function threePins<Tx>(storage: ForgeStorage<Tx>): Promise<readonly [string, string, string]> {
  for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
  const cursorBehind = async (limit: number) => (await storage.events.read({ after: undefined, limit })).cursor
  return [await cursorBehind(1), await cursorBehind(2), await cursorBehind(3)]
}

/** Checks a storage without events with the cursors behind the second and the third event of another. */
async function refusesAhead<Tx>(storage: ForgeStorage<Tx>, second: string, third: string): Promise<void> {
  const { events } = storage
  const read = (after: string | undefined) => events.read({ after, limit: 10 })
  await refuses('CURSOR_AHEAD', () => read(second))
  for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
  const { cursor: newest } = await read(undefined)
  const claim = await events.claim(MAIL, LONG)
  for (const call of [() => read(third), () => events.advance(MAIL, third)]) {
    const outcome = await outcomeOf(call)
    assert.ok('thrown' in outcome && isForgeError(outcome.thrown, 'CURSOR_AHEAD'), 'a cursor ahead is refused')
    assert.deepEqual(outcome.thrown.details, { newest })
  }
  assert.deepEqual(await events.claim(MAIL, LONG), claim)
  assert.equal(await events.advance(RIVAL, third), false, 'only the holder of the lease is refused')
  assert.deepEqual(await read(newest), { events: [], cursor: newest })

  await note(storage, 1)
  const { cursor: last } = await read(newest)
  await events.advance(MAIL, last)
  assert.equal(await events.prune(LATER), 1)
  assert.deepEqual(await read(last), { events: [], cursor: last }, 'the last event was pruned')
}

/** Returns how many of forty holders receive the lease. */
async function claimsGiven<Tx>(one: ForgeStorage<Tx>, other: ForgeStorage<Tx>): Promise<number> {
  const claims = await Promise.all(
    idsTo(40).map(async (holder, n) => (n % 2 === 0 ? one : other).events.claim({ name: MAIL.name, holder }, LONG)),
  )
  return claims.filter((claim) => claim !== undefined).length
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
