import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ForgeInternals } from '../../src/core/forge.ts'
import type { ForgeOptions, ObservedOperation } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import { internalsOf } from '../../src/schema/internal.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { Person } from './a-forge.ts'
import { aForge, codeOf, olga } from './a-forge.ts'

const issue = { id: 1, repositoryId: 10, kind: 'issue' } as const

describe('a forge with an observer', () => {
  test('reports each operation of its storage', async () => {
    const reported: string[] = []
    const forge = aForge({
      observer: { operation: ({ store, operation, outcome }) => reported.push(`${store}.${operation} ${outcome}`) },
    })
    await forge.pins.pin(olga, issue)
    await forge.events.read()
    await forge.close()

    expect(reported).toEqual([
      'pinBoards.epoch done',
      'pinBoards.update done',
      'events.read done',
      'storage.close done',
    ])
  })

  test('reports what a rule refuses, and the caller receives the same error', async () => {
    const reported: ObservedOperation[] = []
    const forge = aForge({ limits: { maxPins: { issue: 0 } }, observer: { operation: (seen) => reported.push(seen) } })

    expect(await codeOf(() => forge.pins.pin(olga, issue))).toBe('PIN_LIMIT_REACHED')
    expect(reported.at(-1)).toMatchObject({ operation: 'update', outcome: 'refused', code: 'PIN_LIMIT_REACHED' })
  })

  test('reveals no ids, names or contents', async () => {
    const reported: ObservedOperation[] = []
    const forge = aForge({ observer: { operation: (seen) => reported.push(seen) } })
    await forge.blocks.block(olga, { organizationId: 'acme', account: { kind: 'user', id: 'mia' }, note: 'spam' })

    expect(JSON.stringify(reported)).not.toMatch(/acme|mia|spam/)
    expect(reported.length).toBeGreaterThan(0)
  })

  test('reports the operations of withTransactionSync, which stay synchronous', async () => {
    const handle = new Database(':memory:')
    onTestFinished(() => void handle.close())
    const storage = sqliteStorage(handle)
    await storage.migrate()
    const reported: string[] = []
    const forge = createForge<Person, Database.Database>({
      storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
      observer: { operation: ({ store, operation }) => reported.push(`${store}.${operation}`) },
    })
    const result = handle
      .transaction(() => forge.withTransactionSync(handle, ({ pins }) => pins.pin(olga, issue)))
      .immediate()

    expect(result.value.position).toBe(1)
    expect(reported).toEqual(['storage.checkTransaction', 'pinBoards.epoch', 'pinBoards.update'])
  })

  test('answers at once where its storage does', () => {
    const { pins } = operationsOf(aForge({ observer: { operation: () => undefined } }))

    expect(pins.pin(olga, issue)).toMatchObject({ position: 1 })
  })
})

describe('an observer that fails', () => {
  test.each([
    ['throws', () => thrown()],
    ['rejects', async () => thrown()],
  ])('changes nothing, and is warned of once, where it %s', async (_how, observe) => {
    const warnings: unknown[] = []
    const logger = { error: thrown, warn: (...line: unknown[]) => void warnings.push(line) }
    const forge = aForge({ observer: { operation: observe }, logger })
    await forge.pins.pin(olga, issue)
    await forge.pins.pin(olga, { ...issue, id: 2 })

    expect(warnings).toEqual([[expect.stringContaining('the observer failed'), { error: new Error('no metrics') }]])
    expect(await forge.pins.list(olga, issue)).toHaveLength(2)
  })

  test('changes nothing where the logger fails too', async () => {
    const forge = aForge({ observer: { operation: thrown }, logger: { error: thrown, warn: thrown } })

    expect(await forge.pins.pin(olga, issue)).toMatchObject({ position: 1 })
  })
})

test.each<[clocks: string, options: Partial<ForgeOptions<Person, undefined>>, readings: number]>([
  ['no clock is read without an observer', {}, 0],
  ['no clock is read for an observer of requests', { observer: { request: () => undefined } }, 0],
  ['a clock is read before and after the operation of one', { observer: { operation: () => undefined } }, 2],
])('%s', (_clocks, options, readings) => {
  const { pins } = operationsOf(aForge(options))
  const now = vi.spyOn(performance, 'now')
  pins.pin(olga, issue)
  const read = now.mock.calls.length
  now.mockRestore()

  expect(read).toBe(readings)
})

function operationsOf(forge: object) {
  return (internalsOf(forge) as ForgeInternals<Person>).operations
}

function thrown(): never {
  throw new Error('no metrics')
}
