import assert from 'node:assert/strict'
import type { Consumer, ForgeStorage } from '../../../storage/storage.ts'
import { BOARD, pin } from './sample-changes.ts'
import type { StorageCase } from './storage-case.ts'
import { refuses, storageCase } from './storage-case.ts'

const LONG = 3_600_000
const MAIL: Consumer = { name: 'mail', holder: 'one' }
const RIVAL: Consumer = { name: 'mail', holder: 'other' }
const NAMES = [
  'mail',
  'Mail',
  'mail ',
  ' mail',
  'ma\u00efl',
  'mai\u0308l',
  'm',
  "'; --",
  '✉️'.repeat(32),
  '🦉'.repeat(64),
]

/** Cases about the consumers of the outbox and their cursors. Source: docs/storage.md, section 5 */
export const consumerCases: readonly StorageCase[] = [
  storageCase('a new consumer begins at the start', async (storage) => {
    for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
    const claim = await storage.events.claim(MAIL, LONG)

    assert.ok(claim !== undefined, 'the lease is granted')
    assert.deepEqual(await issuesAfter(storage, claim.cursor), ['1', '2'])
  }),

  storageCase('the cursor of a consumer stays, whichever holder takes the lease next', async (storage) => {
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const { cursor } = await storage.events.read({ after: undefined, limit: 2 })
    await storage.events.claim(MAIL, LONG)
    assert.equal(await storage.events.advance(MAIL, cursor), true)
    assert.deepEqual(await storage.events.claim(MAIL, LONG), { cursor })
    await storage.events.release(MAIL)

    assert.deepEqual(await storage.events.claim(RIVAL, LONG), { cursor })
    assert.deepEqual(await issuesAfter(storage, cursor), ['3'])
  }),

  storageCase('a cursor never moves back', async (storage) => {
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const first = await storage.events.read({ after: undefined, limit: 1 })
    const { cursor } = await storage.events.read({ after: undefined, limit: 3 })
    await storage.events.claim(MAIL, LONG)
    await storage.events.advance(MAIL, cursor)
    assert.equal(await storage.events.advance(MAIL, first.cursor), true)

    assert.deepEqual(await storage.events.claim(MAIL, LONG), { cursor })
  }),

  storageCase('moving or releasing an unknown consumer creates none', async (storage) => {
    const { cursor } = await storage.events.read({ after: undefined, limit: 10 })

    assert.equal(await storage.events.advance(MAIL, cursor), false)
    await storage.events.release(MAIL)
    assert.equal(await storage.events.forget(MAIL.name), false)
  }),

  storageCase('a cursor moves only to cursors of the outbox', async (storage) => {
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const claim = await storage.events.claim(MAIL, LONG)
    const { cursor: foreign = '' } = await storage.events.list({}, { from: { page: 1 }, limit: 1 })
    for (const text of ['', 'x', '-1', foreign]) {
      await refuses('INVALID_INPUT', () => storage.events.advance(MAIL, text))
    }

    assert.deepEqual(await storage.events.claim(MAIL, LONG), claim)
  }),

  storageCase('a forgotten consumer is new again, and its lease is lost', async (storage) => {
    await pin(storage, BOARD, '1')
    const claim = await storage.events.claim(MAIL, LONG)
    const { cursor } = await storage.events.read({ after: undefined, limit: 10 })
    await storage.events.advance(MAIL, cursor)
    assert.equal(await storage.events.forget(MAIL.name), true)
    assert.equal(await storage.events.forget(MAIL.name), false)
    assert.equal(await storage.events.advance(MAIL, cursor), false)

    assert.deepEqual(await storage.events.claim(RIVAL, LONG), claim)
  }),

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
]

async function issuesAfter<Tx>(storage: ForgeStorage<Tx>, cursor: string): Promise<readonly unknown[]> {
  const { events } = await storage.events.read({ after: cursor, limit: 100 })
  return events.map((event) => event.issueId)
}
