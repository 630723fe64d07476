import { describe, expect, test } from 'vitest'
import type { Forge, TransactionServices } from '../../src/index.ts'
import { ForgeError } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { Person } from './a-forge.ts'
import { aForge, codeOf, olga } from './a-forge.ts'

const issue = { id: '7', repositoryId: '10', kind: 'issue' } as const

test('withTransaction needs a storage with transactions', async () => {
  const called = aForge().withTransaction(undefined, async () => undefined)
  await expect(called).rejects.toThrow('withTransaction needs a storage with asynchronous transactions')
})

/** A forge whose storage fails every pin, and counts what else it is asked for. */
function failingToPin(failure: ForgeError): { readonly forge: Forge<Person, undefined>; reads(): number } {
  const storage = memoryStorage()
  let reads = 0
  const pinBoards: typeof storage.pinBoards = {
    ...storage.pinBoards,
    update: () => Promise.reject(failure),
    load(key) {
      reads += 1
      return storage.pinBoards.load(key)
    },
  }
  const transactions = { transactions: 'asynchronous', checkTransaction: () => undefined } as const
  return { forge: aForge({ storage: { ...storage, ...transactions, pinBoards } }), reads: () => reads }
}

describe.each([
  new ForgeError('STORAGE_BUSY', 'a deadlock', { retry: 'host-transaction' }),
  new ForgeError('STORAGE_UNAVAILABLE', 'the connection is lost', { outcome: 'nothing-done' }),
])('a transaction that a call lost, by %s,', (lost) => {
  test('must not be committed, though the work caught the error', async () => {
    const { forge } = failingToPin(lost)
    const work = async ({ pins }: TransactionServices<Person>) => codeOf(() => pins.pin(olga, issue))

    await expect(forge.withTransaction(undefined, work)).rejects.toBe(lost)
  })

  test('must not be committed, though the work did not wait for the call', async () => {
    const { forge } = failingToPin(lost)
    const work = async ({ pins }: TransactionServices<Person>) => void pins.pin(olga, issue).catch(() => undefined)

    await expect(forge.withTransaction(undefined, work)).rejects.toBe(lost)
  })

  test('makes no later call', async () => {
    const { forge, reads } = failingToPin(lost)
    const later: unknown[] = []
    const work = async ({ pins }: TransactionServices<Person>) => {
      await codeOf(() => pins.pin(olga, issue))
      later.push(await pins.list(olga, issue).catch((error: unknown) => error))
    }

    await expect(forge.withTransaction(undefined, work)).rejects.toBe(lost)
    expect(later).toMatchObject([{ code: 'STORAGE_BUSY', details: { retry: 'host-transaction' }, cause: lost }])
    expect(reads()).toBe(0)
  })
})

test('a transaction in which a call is only to be made again goes on', async () => {
  const { forge, reads } = failingToPin(new ForgeError('STORAGE_BUSY', 'busy', { retry: 'call' }))
  const work = async ({ pins }: TransactionServices<Person>) => [
    await codeOf(() => pins.pin(olga, issue)),
    await pins.list(olga, issue),
  ]

  expect(await forge.withTransaction(undefined, work)).toMatchObject({ value: ['STORAGE_BUSY', []] })
  expect(reads()).toBe(1)
})
