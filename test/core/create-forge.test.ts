import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ForgeOptions } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { Person } from './a-forge.ts'
import { aForge, everyone, olga } from './a-forge.ts'

const issue = { id: 1, repositoryId: 10, kind: 'issue' } as const
const PORTS = { storage: memoryStorage(), policy: everyone }

describe('createForge', () => {
  test.each([
    ['limits.maxPins', { limits: { maxPins: 5 } }],
    ['beforeCommit', { beforeCommit: 'now' }],
    ['logger', { logger: null }],
    ['observer', { observer: () => undefined }],
    ['observer', { observer: { request: {} } }],
  ])('refuses an invalid %s', (name, options) => {
    const broken = options as unknown as Parameters<typeof aForge>[0]
    expect(() => aForge(broken)).toThrow(`createForge needs ${name}`)
  })

  test('refuses an invalid time', async () => {
    const forge = aForge({ clock: { now: () => new Date(Number.NaN) } })
    await expect(forge.pins.pin(olga, issue)).rejects.toThrow('valid Date')
  })

  test('keeps the time of a change when the clock goes on with the same Date', async () => {
    const now = new Date(0)
    const forge = aForge({ clock: { now: () => now } })
    const { pinnedAt } = await forge.pins.pin(olga, issue)
    now.setTime(1000)
    expect(pinnedAt).toEqual(new Date(0))
  })

  test.each([
    [{ maxPins: { issue: -1 } }, 'limits.maxPins.issue must be an integer from 0 to 1000'],
    [{ maxPins: { issue: 1001 } }, 'limits.maxPins.issue must be an integer from 0 to 1000'],
    [{ maxPins: { pullRequest: 1.5 } }, 'limits.maxPins.pullRequest must be an integer from 0 to 1000'],
    [{ maxNoteLength: 256 }, 'limits.maxNoteLength must be an integer from 0 to 255'],
  ])('refuses the limits %j', (limits, message) => {
    expect(() => aForge({ limits })).toThrow(message)
    expect(() => aForge({ limits: { maxPins: { issue: 1000 }, maxNoteLength: 255 } })).not.toThrow()
  })

  test('refuses withTransactionSync: memory has no transactions of a host', () => {
    expect(() => aForge().withTransactionSync(undefined, () => 1)).toThrow(TypeError)
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
    await forge.pins.pin(olga, issue)
    const calls = [...spy.mock.calls]
    spy.mockRestore()

    const fields = expect.objectContaining({ error: new Error('deaf') })
    expect(logged).toEqual(Array.from({ length: own }, () => ['an event listener failed', fields]))
    expect(calls).toEqual(Array.from({ length: shown }, () => ['forgelet: an event listener failed', fields]))
  })
})

describe('a forge with some services', () => {
  test.each([
    [['pins'], ['pins', 'lifecycle', 'events']],
    [
      ['signing-keys', 'badges'],
      ['badges', 'signingKeys', 'lifecycle', 'events'],
    ],
    [[], ['lifecycle', 'events']],
  ] as const)('with %j has the services %j', (services, properties) => {
    const forge = createForge({ storage: memoryStorage(), policy: everyone, services: [...services] })
    const all = ['pins', 'blocks', 'badges', 'signingKeys', 'lifecycle', 'events']

    expect(all.filter((name) => name in forge)).toEqual(properties)
  })

  test('names its services once each, in a fixed order, in a list of its own', () => {
    const [forge, other] = [aForge({ services: ['badges', 'pins', 'badges'] }), aForge()]
    const all = [...other.services]
    Reflect.apply(Array.prototype.pop, other.services, [])

    expect([forge.services, aForge().services]).toEqual([['pins', 'badges'], all])
  })

  test('has the same services inside a transaction', async () => {
    const handle = new Database(':memory:')
    onTestFinished(() => void handle.close())
    const storage = sqliteStorage(handle)
    await storage.migrate()
    const forge = createForge({ storage, policy: { authorize: () => ({ allow: true }) }, services: ['pins'] })
    const { value } = handle
      .transaction(() => forge.withTransactionSync(handle, (inside) => Object.keys(inside)))
      .immediate()

    expect(value).toEqual(['pins', 'lifecycle'])
  })
})

const MEMBERSHIP = 'createForge needs membership: an object with isMember(member, context)'
const SOME = `services must be some of ${aForge().services.join(', ')}; `

test.each([
  [{}, `${MEMBERSHIP}, for the service blocks, or a storage with tables.members`],
  [{ services: ['pins', 'blocks'] }, `${MEMBERSHIP}, for the service blocks, or a storage with tables.members`],
  [{ services: ['pins'], membership: () => false }, MEMBERSHIP],
  [{ services: ['wiki'] }, `${SOME}"wiki" is not one of them`],
  [{ services: ['pins', 'signingKeys'] }, `${SOME}"signingKeys" is not one`],
])('the options %j are refused', (options, message) => {
  const create = (): unknown => Reflect.apply(createForge, undefined, [{ ...PORTS, ...options }])

  expect(create).toThrow(TypeError)
  expect(create).toThrow(message)
})
