import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createForge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { aForge, codeOf, everyone, olga } from './a-forge.ts'

const issue = { id: 1, repositoryId: 10, kind: 'issue' } as const

describe('a forge with some services', () => {
  test('needs no port that only the others call', async () => {
    const forge = createForge({ storage: memoryStorage(), policy: everyone, services: ['pins', 'badges'] })

    expect(await forge.pins.pin(olga, issue)).toMatchObject({ position: 1 })
  })

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

  test('names its services once each, in a fixed order', () => {
    const forge = aForge({ services: ['badges', 'pins', 'badges'] })

    expect(forge.services).toEqual(['pins', 'badges'])
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

  test('reports the deletions of the host to every service', async () => {
    const forge = createForge({ storage: memoryStorage(), policy: everyone, services: ['pins'] })
    await forge.pins.pin(olga, issue)
    await forge.lifecycle.repositoryDeleted(10)

    expect(await codeOf(() => forge.pins.list(olga, issue))).toBe('REPOSITORY_NOT_FOUND')
  })
})

test('a forge has every service by default', () => {
  const forge = aForge()

  expect(forge.services).toEqual(expect.arrayContaining(['pins', 'blocks', 'badges', 'signing-keys', 'exchange']))
  expect(Object.keys(forge)).toEqual(expect.arrayContaining(['pins', 'blocks', 'badges', 'signingKeys']))
})

test.each([undefined, ['blocks'], ['pins', 'blocks']])('the services %j need a membership', (services) => {
  const options = { storage: memoryStorage(), policy: everyone, services }

  expect(() => Reflect.apply(createForge, undefined, [options])).toThrow(
    new TypeError('createForge needs membership: an object with isMember(member, context), for the service blocks'),
  )
})

test('a membership that is not valid is refused, also where no service needs it', () => {
  const options = { storage: memoryStorage(), policy: everyone, services: ['pins'], membership: () => false }

  expect(() => Reflect.apply(createForge, undefined, [options])).toThrow('createForge needs membership')
})

const ALL = aForge().services.join(', ')

test.each([
  ['pins', `services must be an array of these names: ${ALL}`],
  [['wiki'], `services must be some of ${ALL}; "wiki" is not one of them`],
  [['pins', 'signingKeys'], `services must be some of ${ALL}; "signingKeys" is not one`],
])('the services %j are refused', (services, message) => {
  const options = { storage: memoryStorage(), policy: everyone, membership: { isMember: () => false }, services }

  expect(() => Reflect.apply(createForge, undefined, [options])).toThrow(message)
})
