import assert from 'node:assert/strict'
import { isForgeError } from '../../../index.ts'
import type { Consumer, ForgeStorage } from '../../../storage/storage.ts'
import { eventsOrPruned, LATER, note, outbox } from '../samples/outbox.ts'
import { BOARD, pin } from '../samples/pin-boards.ts'
import { NOON } from '../samples/sample.ts'
import { turns } from './gate.ts'
import { idsTo, raceCases } from './race.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, refuses, storageCase } from './storage-case.ts'

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
    await storage.events.claim(MAIL, 15)
    const first = await storage.events.claim(MAIL, LONG)
    await pause(20)
    assert.equal(await storage.events.claim(RIVAL, LONG), undefined, 'a renewed lease lasts longer')
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
    assert.equal(await one.events.prune(NOON), 0, 'the events are of that time, not of an earlier one')
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
