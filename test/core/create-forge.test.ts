import { describe, expect, test, vi } from 'vitest'
import type { ForgeOptions } from '../../src/index.ts'
import type { Person } from './a-forge.ts'
import { aForge, olga } from './a-forge.ts'

describe('createForge', () => {
  test.each([
    ['policy', { policy: { authorize: 5 } }],
    ['limits.maxPins', { limits: { maxPins: 5 } }],
    ['beforeCommit', { beforeCommit: 'now' }],
    ['logger', { logger: {} }],
    ['logger', { logger: null }],
    ['logger', { logger: true }],
    ['observer', { observer: () => undefined }],
    ['observer', { observer: { operation: 'log' } }],
    ['observer', { observer: { request: {} } }],
  ])('refuses an invalid %s', (name, options) => {
    const broken = options as unknown as Parameters<typeof aForge>[0]
    expect(() => aForge(broken)).toThrow(`createForge needs ${name}`)
  })

  test('gives every forge its own list of services', () => {
    const [one, other] = [aForge(), aForge()]
    const services = [...one.services]
    Reflect.apply(Array.prototype.pop, one.services, [])
    expect(other.services).toEqual(services)
    expect(aForge().services).toEqual(services)
  })

  test('refuses an invalid time', async () => {
    const forge = aForge({ clock: { now: () => new Date(Number.NaN) } })
    await expect(forge.pins.pin(olga, { id: 1, repositoryId: 1, kind: 'issue' })).rejects.toThrow('valid Date')
  })

  test.each([{ issue: -1 }, { pullRequest: 1.5 }, { issue: Number.NaN }])('refuses maxPins %j', (maxPins) => {
    expect(() => aForge({ limits: { maxPins } })).toThrow(TypeError)
  })

  test('takes limits of up to 1000 pins', async () => {
    const forge = aForge({ limits: { maxPins: { issue: 1000, pullRequest: 11 } } })
    for (let id = 1; id <= 11; id += 1) await forge.pins.pin(olga, { id, repositoryId: 1, kind: 'pullRequest' })
    expect(await forge.pins.list(olga, { repositoryId: 1, kind: 'pullRequest' })).toHaveLength(11)
    expect(() => aForge({ limits: { maxPins: { issue: 1001 } } })).toThrow(
      'limits.maxPins.issue must be an integer from 0 to 1000',
    )
  })

  test('refuses a note longer than the storage holds', () => {
    expect(() => aForge({ limits: { maxNoteLength: 256 } })).toThrow(
      'limits.maxNoteLength must be an integer from 0 to 255',
    )
  })

  test('refuses withTransactionSync: memory has no transactions of a host', () => {
    expect(() => aForge().withTransactionSync(undefined, () => 1)).toThrow(TypeError)
  })

  test('closes twice', async () => {
    const forge = aForge()
    await forge.pins.allowed(olga, 1)
    await forge.close()
    await forge.close()
  })
})

describe('a failure', () => {
  test.each<[where: string, logger: ForgeOptions<Person, undefined>['logger'] | 'own', own: number, console: number]>([
    ['goes to console.error when the forge has no logger', undefined, 0, 1],
    ['goes to the logger of the forge', 'own', 1, 0],
    ['goes nowhere when that is false', false, 0, 0],
  ])('%s', async (_where, logger, own, shown) => {
    const logged: unknown[] = []
    const spy = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const collecting = { error: (...line: unknown[]) => logged.push(line), warn: () => undefined }
    const forge = aForge({ logger: logger === 'own' ? collecting : logger })
    forge.events.on(() => {
      throw new Error('deaf')
    })
    await forge.pins.pin(olga, { id: 1, repositoryId: 1, kind: 'issue' })
    const calls = [...spy.mock.calls]
    spy.mockRestore()

    const fields = expect.objectContaining({ error: new Error('deaf') })
    expect(logged).toEqual(Array.from({ length: own }, () => ['an event listener failed', fields]))
    expect(calls).toEqual(Array.from({ length: shown }, () => ['forgelet: an event listener failed', fields]))
  })
})
