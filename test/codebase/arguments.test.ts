import { expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { mountContract, storageContract } from '../../app/testing/testing.ts'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import { createApi } from '../../src/http-adapters/http.ts'
import { nodeHandler } from '../../src/http-adapters/node.ts'
import { createForge, tableRoles } from '../../src/index.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'

// What a host in JavaScript meets that leaves an argument out, or passes another thing: at once, a TypeError that names the
// argument and says what it should be.

const ports = { storage: memoryStorage(), policy: { authorize() {} }, membership: { isMember: () => false } }
const forge = createForge({ ...ports, policy: { authorize: () => ({ allow: true }) }, logger: false })
const repositories = { table: 'repos' }
const of = (tables: object): readonly unknown[] => [':memory:', { tables }]
const host = { standingInRepository() {}, standingInOrganization() {} }
const api = { dispatch() {}, unmatched() {}, failed() {}, openApi() {} }

test.each<[message: string, called: (...args: never[]) => unknown, args: readonly unknown[]]>([
  ['createForge needs options: an object with storage, policy, membership', createForge, []],
  ['createForge needs storage: a storage such as memoryStorage()', createForge, [{}]],
  ['createForge needs storage: a storage such as', createForge, [{ ...ports, storage: memoryStorage }]],
  ['createForge needs policy: an object with authorize(request, ', createForge, [{ ...ports, policy: () => true }]],
  ['createForge needs membership: an object with isMember', createForge, [{ ...ports, membership: undefined }]],
  ['createForge needs signingKey: an object with format and publ', createForge, [{ ...ports, signingKey: 'key.pub' }]],
  ['services must be an array of these names: pins, blocks, badges, ', createForge, [{ ...ports, services: 'pins' }]],
  ['createForge needs logger: an object with error(message, fields)', createForge, [{ ...ports, logger: console.log }]],
  ['createApi needs a forge that createForge returned', createApi, [{}]],
  ['createApi needs options: an object with directory, present', createApi, [forge]],
  ['createApi needs directory.findRepository: a function, for the service pins', createApi, [forge, {}]],
  ['nodeHandler needs api: an API made by createApi', nodeHandler, [forge, { authenticate() {} }]],
  ['nodeHandler needs authenticate: a function of the request', nodeHandler, [api, {}]],
  ['basePath must ', nodeHandler, [api, { authenticate() {}, basePath: 5 }]],
  ['basePath must be a path', nodeHandler, [api, { authenticate() {}, basePath: '/api?x' }]],
  ['basePath must be a path', nodeHandler, [api, { authenticate() {}, basePath: '/api#x' }]],
  ['basePath must be a path', nodeHandler, [api, { authenticate() {}, basePath: '/the api' }]],
  ['basePath must be a path', fetchHandler, [api, { authenticate() {}, basePath: 'api' }]],
  ['nodeHandler needs crossSite: ', nodeHandler, [api, { authenticate() {}, crossSite: 'yes' }]],
  ['fetchHandler needs crossSite: ', fetchHandler, [api, { authenticate() {}, crossSite: 'perhaps' }]],
  ['fetchHandler needs api: an API made by createApi', fetchHandler, [forge, { authenticate() {} }]],
  ['fetchHandler needs authenticate: a function of the request', fetchHandler, [api, {}]],
  ['an SQLite storage needs a file name or an open handle', sqliteStorage, []],
  ['options must be an object such as { prefix: ', sqliteStorage, [':memory:', 'forge_']],
  ['a PostgreSQL storage needs a URL, a pool of pg', postgresStorage, []],
  ['a MariaDB storage needs a URL, a pool of mysql2/promise', mariadbStorage, []],
  ['openStandalone needs options: an object with db', openStandalone, []],
  ['sqliteStorage needs tables: an object with users, ', sqliteStorage, [':memory:', { tables: 'users' }]],
  ['sqliteStorage needs tables.users: an object with table, ', sqliteStorage, of({ users: 'users' })],
  ['sqliteStorage needs tables.repositories.owner: an object with org', sqliteStorage, of({ repositories })],
  [
    'sqliteStorage needs tables.repositories.owner: an object with organization, user',
    sqliteStorage,
    of({ repositories: { ...repositories, owner: 'owner_id' } }),
  ],
  ['tableRoles needs storage: a storage with tables: members, ', tableRoles, []],
  ['tableRoles needs options: an object with admin', tableRoles, [{ host }]],
  ['tableRoles needs admin: a function of the actor', tableRoles, [{ host }, {}]],
  ['tableRoles has no option isSiteAdmin: did you mean admin?', tableRoles, [{ host }, { isSiteAdmin() {} }]],
  ['storageContract needs open, a function that returns a fresh storage', storageContract, []],
  ['mountContract needs start, a function that starts the application', mountContract, []],
])('a wrong argument throws "%s…"', async (message, called, args) => {
  const error = await outcomeOf(() => Reflect.apply(called, undefined, args))

  expect(error).toBeInstanceOf(TypeError)
  expect(error).toMatchObject({ message: expect.stringContaining(message) })
})

/** What the engine says of a value that was never checked. */
const UNCHECKED = /^Cannot |is not (a function|iterable|a constructor)|undefined \(reading|Right-hand side/

test.each(methodsOf(forge))('%s says what is wrong with its arguments', async (_name, method) => {
  for (const args of [
    [],
    [null, null, null],
    ['system'],
    ['system', 5, 5, 5],
    ['system', {}, {}, {}],
    [{ id: 1 }],
    [{}, null],
  ]) {
    const error = await outcomeOf(() => method(...args))

    if (error instanceof TypeError) expect(error.message).not.toMatch(UNCHECKED)
    else if (error !== undefined) expect(error).toMatchObject({ name: 'ForgeError' })
  }
})

/** Every method of a forge and of its services, by its path. */
function methodsOf(value: object, path = ''): (readonly [string, (...args: readonly unknown[]) => unknown])[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === 'close') return []
    if (typeof member === 'function') return [[`${path}${name}`, (...args) => member(...args)] as const]
    return typeof member === 'object' && member !== null ? methodsOf(member, `${path}${name}.`) : []
  })
}

/** What a call throws or rejects with; undefined when it does neither. */
async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}
