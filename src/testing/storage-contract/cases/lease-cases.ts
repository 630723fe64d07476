import assert from 'node:assert/strict'
import type { Consumer, ForgeStorage } from '../../../storage/storage.ts'
import { idsTo, raceCases } from './race.ts'
import { BOARD, pin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { storageCase } from './storage-case.ts'

const LONG = 3_600_000
const MAIL: Consumer = { name: 'mail', holder: 'one' }
const RIVAL: Consumer = { name: 'mail', holder: 'other' }

/** Cases about the leases of consumers of the outbox: one holder at a time. Source: docs/storage.md, section 5 */
export const leaseCases: readonly StorageCase[] = [
  storageCase('a lease excludes other holders from its consumer, and from no other', async (storage) => {
    await storage.events.claim(MAIL, LONG)

    assert.equal(await storage.events.claim(RIVAL, LONG), undefined)
    assert.notEqual(await storage.events.claim({ ...RIVAL, name: 'hooks' }, LONG), undefined)
  }),

  storageCase('an expired lease is free, and its former holder moves nothing', async (storage) => {
    await pin(storage, BOARD, '1')
    await storage.events.claim(MAIL, 1)
    await pause(20)
    const { cursor } = await storage.events.read({ after: undefined, limit: 10 })
    assert.equal(await storage.events.advance(MAIL, cursor), false, 'the lease has expired')
    const taken = await storage.events.claim(RIVAL, LONG)
    assert.equal(await storage.events.advance(MAIL, cursor), false, 'another holder has the lease')
    assert.equal(await storage.events.claim(MAIL, LONG), undefined)

    assert.notEqual(taken, undefined)
    assert.deepEqual(await storage.events.claim(RIVAL, LONG), taken)
  }),

  storageCase('a holder renews its lease', async (storage) => {
    const first = await storage.events.claim(MAIL, 1)
    await pause(20)

    assert.deepEqual(await storage.events.claim(MAIL, LONG), first)
    assert.equal(await storage.events.claim(RIVAL, LONG), undefined)
  }),

  storageCase('a lease can be shortened by its holder', async (storage) => {
    await storage.events.claim(MAIL, LONG)
    await storage.events.claim(MAIL, 1)
    await pause(20)

    assert.notEqual(await storage.events.claim(RIVAL, LONG), undefined)
  }),

  storageCase('only the holder releases a lease', async (storage) => {
    await storage.events.claim(MAIL, LONG)
    await storage.events.release(RIVAL)
    assert.equal(await storage.events.claim(RIVAL, LONG), undefined)
    await storage.events.release(MAIL)

    assert.notEqual(await storage.events.claim(RIVAL, LONG), undefined)
  }),

  storageCase('a holder that released its lease moves nothing', async (storage) => {
    await pin(storage, BOARD, '1')
    const claim = await storage.events.claim(MAIL, LONG)
    await storage.events.release(MAIL)
    const { cursor } = await storage.events.read({ after: undefined, limit: 10 })

    assert.equal(await storage.events.advance(MAIL, cursor), false)
    assert.deepEqual(await storage.events.claim(MAIL, LONG), claim)
  }),

  ...raceCases('of forty holders that claim a new consumer concurrently, one gets it', async (one, other) => {
    assert.equal(await claimsGiven(one, other), 1)
  }),

  ...raceCases('of forty holders that claim a free consumer concurrently, one gets it', async (one, other) => {
    await one.events.claim(MAIL, LONG)
    for (let round = 0; round < 5; round += 1) {
      await one.events.release(MAIL)
      assert.equal(await claimsGiven(one, other), 1)
      await one.events.forget(MAIL.name)
      await one.events.claim(MAIL, LONG)
    }
  }),

  ...raceCases('only the holder of the lease moves the cursor, whatever others try meanwhile', async (one, other) => {
    await pin(one, BOARD, '1')
    const { cursor } = await one.events.read({ after: undefined, limit: 10 })
    await one.events.claim(MAIL, LONG)
    const tries = await Promise.all(
      idsTo(20).flatMap((holder) => [
        Promise.resolve(other.events.claim({ name: 'mail', holder }, LONG)),
        Promise.resolve(other.events.advance({ name: 'mail', holder }, cursor)),
      ]),
    )

    assert.ok(
      tries.every((outcome) => outcome === undefined || outcome === false),
      'no other holder gets it',
    )
    assert.equal(await one.events.advance(MAIL, cursor), true)
  }),
]

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
