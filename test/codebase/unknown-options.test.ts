import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { expect, test } from 'vitest'
import { readIssues } from '../../src/exchange/exchange.ts'
import { expressHandler } from '../../src/http-adapters/express.ts'
import { fetchHandler } from '../../src/http-adapters/fetch.ts'
import { createApi } from '../../src/http-adapters/http.ts'
import { nodeHandler } from '../../src/http-adapters/node.ts'
import type { Actor, Forge, ForgeOptions } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import { validateIssues } from '../../src/schema/documents/validate-issues.ts'
import { generateKey, openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { durableObjectStorage } from '../../src/storage/durable-object.ts'
import { inTransaction as inMariadb, mariadbSchemaPlan, mariadbStorage } from '../../src/storage/mariadb.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { inTransaction as inPostgres, postgresSchemaPlan, postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteSchemaPlan, sqliteStorage } from '../../src/storage/sqlite.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'

const port = () => null
const ports = {
  storage: memoryStorage(),
  policy: { authorize: () => ({ allow: true }) },
  membership: { isMember: () => false },
}
const forge = createForge({ ...ports, policy: { authorize: () => ({ allow: true }) } })
const routed = {
  directory: { findOrganization: port, findUser: port, findAccount: port },
  present: { users: () => [] },
}
const settings = { services: ['blocks'], ...routed }
const kysely = new Kysely({ dialect: new SqliteDialect({ database: new Database(':memory:') }) })
const durable = { sql: { exec: port }, transactionSync: port }
const records = { repositoryId: 1, records: [] }
const api = call(createApi, forge, settings)

/** A function, its arguments with an unknown option, and the refusal. */
const REFUSED: readonly [
  fn: (...given: never[]) => unknown,
  given: readonly unknown[],
  caller: string,
  option: string,
  nearest?: string,
][] = [
  [createForge, [{ ...ports, limit: { maxPins: 3 } }], 'createForge', 'limit', 'limits'],
  [createForge, [{ ...ports, limits: { maxPin: 3 } }], 'createForge', 'limits.maxPin', 'limits.maxPins'],
  [
    createForge,
    [{ ...ports, limits: { maxPins: { pull: 3 } } }],
    'createForge',
    'limits.maxPins.pull',
    'limits.maxPins.issue',
  ],
  [createApi, [forge, { ...settings, publicURl: 'http://a.example' }], 'createApi', 'publicURl', 'publicUrl'],
  [createApi, [forge, { ...settings, logger: false }], 'createApi', 'logger', 'docsUrl'],
  [
    createApi,
    [forge, { ...settings, limits: { maxBodyByte: 1 } }],
    'createApi',
    'limits.maxBodyByte',
    'limits.maxBodyBytes',
  ],
  [nodeHandler, [api, { authenticate: port, base: '/api' }], 'nodeHandler', 'base', 'basePath'],
  [expressHandler, [api, { authenticate: port, path: '/api' }], 'nodeHandler', 'path', 'basePath'],
  [fetchHandler, [api, { authenticate: port, crosssites: 'allow' }], 'fetchHandler', 'crosssites', 'crossSite'],
  [memoryStorage, [{ prefix: 'forge_' }], 'memoryStorage', 'prefix'],
  [sqliteStorage, [':memory:', { prefixes: 'forge_' }], 'sqliteStorage', 'prefixes', 'prefix'],
  [sqliteStorage, [':memory:', { ids: { users: 'uuid' } }], 'sqliteStorage', 'ids.users', 'ids.user'],
  [postgresStorage, ['postgres://a.example/b', { schemas: 'forge' }], 'postgresStorage', 'schemas', 'schema'],
  [mariadbStorage, ['mysql://a.example/b', { id: {} }], 'mariadbStorage', 'id', 'ids'],
  [inPostgres, [forge, { connect: port, query: port }, port, { level: 1 }], 'inTransaction', 'level', 'isolation'],
  [inMariadb, [forge, { getConnection: port }, port, { level: 1 }], 'inTransaction', 'level', 'isolation'],
  [postgresStorage, [kysely, { prefx: 'a_' }], 'postgresStorage', 'prefx', 'prefix'],
  [durableObjectStorage, [durable, { Prefix_: 'a_' }], 'durableObjectStorage', 'Prefix_', 'prefix'],
  [sqliteSchemaPlan, [{ prefx: 'a' }], 'sqliteSchemaPlan', 'prefx', 'prefix'],
  [postgresSchemaPlan, [{ scheme: 'a' }], 'postgresSchemaPlan', 'scheme', 'schema'],
  [mariadbSchemaPlan, [{ schema: 'a' }], 'mariadbSchemaPlan', 'schema', 'ids'],
  [generateKey, [{ format: 'ssh', name: 'a', email: 'a@b.example', mail: 'a' }], 'generateKey', 'mail', 'email'],
  [openKeyFile, ['key', { format: 'ssh' }], 'openKeyFile', 'format'],
  [readIssues, [{ json: [] }, { oninvalid: 'throw' }], 'readIssues', 'oninvalid', 'onInvalid'],
  [readIssues, [{ json: [] }, { limits: { depth: 3 } }], 'readIssues', 'limits.depth', 'limits.maxRecordBytes'],
  [validateIssues, [[], { limits: 3 }], 'validateIssues', 'limits', 'limit'],
]

for (const [fn, given, caller, option, nearest] of REFUSED) {
  test(`${caller} refuses the unknown option ${option}`, async () => {
    const refusal =
      nearest === undefined
        ? `has no options: it was given ${option}`
        : `has no option ${option}: did you mean ${nearest}?`

    expect(await outcomeOf(() => call(fn, ...given))).toEqual({ thrown: new TypeError(`${caller} ${refusal}`) })
  })
}

test('an import refuses an unknown option, and a consumer does', async () => {
  const tracker = { issues: () => [], comments: 'none', findUsers: () => new Map(), write: port }
  const { exchange, events } = call(opened, { ...ports, issues: tracker })
  const { signal } = new AbortController()

  await expect(call(exchange.import, 'system', records, { onConflicts: 'skip' })).rejects.toThrow(
    new TypeError('exchange.import has no option onConflicts: did you mean onConflict?'),
  )
  await expect(call(events.consume, 'mail', port, { signal, pollMillis: 5 })).rejects.toThrow(
    new TypeError('consume has no option pollMillis: did you mean pollMilliseconds?'),
  )
})

test.each<[open: (...given: never[]) => unknown, place: string]>([
  [sqliteStorage, ':memory:'],
  [postgresStorage, 'postgres://a.example/b'],
  [mariadbStorage, 'mysql://a.example/b'],
])('%o refuses ids that are no object', (open, place) => {
  expect(() => call(open, place, { ids: 'uuid' })).toThrow(
    new TypeError("ids must be an object such as { user: 'uuid' }"),
  )
})

test('an unknown option that is undefined is accepted, as a host has it that chooses by a condition', () => {
  expect(() => call(opened, { ...ports, logging: undefined, limits: { maxPin: undefined } })).not.toThrow()
  expect(() => call(sqliteStorage, ':memory:', { schema: undefined, ids: undefined })).not.toThrow()
})

/** One of the signatures of `createForge`. */
function opened(options: ForgeOptions<Actor, undefined>): Forge<Actor, undefined> {
  return createForge(options)
}

/** Calls a function as JavaScript does: with any arguments. */
function call<R>(fn: (...given: never[]) => R, ...given: readonly unknown[]): R {
  return Reflect.apply(fn, undefined, given)
}
