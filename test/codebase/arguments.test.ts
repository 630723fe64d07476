import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createForge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import tsup from '../../tsup.config.ts'

// What a caller meets who leaves an argument out, or hands in another thing: a TypeError that names the argument and says what
// it should be, at once. A new export without a row here fails, and so does a method of a service that stumbles.

type Row = readonly [args: readonly unknown[], message: string]

const forge = createForge({
  storage: memoryStorage(),
  policy: { authorize: () => ({ allow: true }) },
  membership: { isMember: () => false },
  logger: false,
})
const ports = {
  storage: memoryStorage(),
  policy: { authorize: () => undefined },
  membership: { isMember: () => false },
}
const directory = { findAccount() {}, findRepository() {}, findIssue() {} }
const api = { dispatch() {}, unmatched() {}, failed() {}, openApi() {} }
const issueText = "an object such as { id: 7, repositoryId: 10, kind: 'issue' }"

/** The message for each wrong call of an export. */
const ROWS: { readonly [entry: string]: { readonly [name: string]: readonly Row[] } } = {
  index: {
    createForge: [
      [[], 'createForge needs options: an object with storage, policy and membership'],
      [[null], 'createForge needs options: an object with storage, policy and membership'],
      [[{}], 'createForge needs storage: a storage such as memoryStorage()'],
      [[{ ...ports, storage: memoryStorage }], 'createForge needs storage: a storage such as memoryStorage()'],
      [[{ ...ports, policy: () => true }], 'createForge needs policy: an object with authorize(request, context)'],
      [[{ ...ports, membership: undefined }], 'createForge needs membership: an object with isMember(member, context)'],
      [
        [{ ...ports, limits: null }],
        'createForge needs limits: an object such as { maxNoteLength: 100 }, or undefined',
      ],
      [
        [{ ...ports, limits: { maxPins: null } }],
        'createForge needs limits.maxPins: an object such as { issue: 5 }, or undefined',
      ],
      [[{ ...ports, clock: null }], 'createForge needs clock: an object with now(), or undefined'],
      [
        [{ ...ports, signingKey: 'id_ed25519.pub' }],
        'createForge needs signingKey: an object with format and publicKey(), or undefined',
      ],
      [
        [{ ...ports, observer: console.log }],
        'createForge needs observer: an object with operation(operation) or request(request), or undefined',
      ],
      [
        [{ ...ports, services: 'pins' }],
        'services must be an array of these names: pins, blocks, badges, signing-keys, exchange',
      ],
      [[{ ...ports, logger: console.log }], 'createForge needs logger: an object with error(message, fields) and warn'],
    ],
    pinIssue: [
      [[], 'pinIssue needs board: an array of issues'],
      [[['a'], 'b'], 'pinIssue needs limit: an integer, 0 or greater'],
      [[['a'], 'b', 3, 'pull'], "pinIssue needs kind: 'issue' or 'pullRequest'"],
    ],
    unpinIssue: [[[], 'unpinIssue needs board: an array of issues']],
    movePin: [[[], 'movePin needs board: an array of issues']],
    grantBadges: [
      [[], 'grantBadges needs badges: an object such as { known: [], held: [] }'],
      [[{ known: [], held: [] }], 'grantBadges needs slugs: an array of strings'],
    ],
    revokeBadges: [
      [[], 'revokeBadges needs badges: an object such as { known: [], held: [] }'],
      [[{ known: [], held: [] }, 'owl'], 'revokeBadges needs slugs: an array of strings'],
    ],
    defineBadge: [
      [[], "defineBadge needs entry: an object such as { badge: undefined, holders: 0, nextId: '1' }"],
      [[{}], "defineBadge needs definition: an object such as { slug: 'owl', description: '', imageUrl: '' }"],
      [[{}, {}], 'slug must be a string'],
    ],
    updateBadge: [
      [[], "updateBadge needs entry: an object such as { badge: undefined, holders: 0, nextId: '1' }"],
      [[{}, 5], 'updateBadge needs slug: a string'],
      [[{}, 'owl'], "updateBadge needs change: an object such as { description: 'Ships at night' }"],
    ],
    removeBadge: [
      [[], "removeBadge needs entry: an object such as { badge: undefined, holders: 0, nextId: '1' }"],
      [[{}], 'removeBadge needs slug: a string'],
    ],
    blockUser: [
      [[5], 'blockUser needs current: a block, or undefined'],
      [[undefined], 'blockUser needs block: the block to set'],
      [[undefined, {}], 'blockUser needs isMember: true or false'],
    ],
    unblockUser: [[[5], 'unblockUser needs current: a block, or undefined']],
    assertNotBlocked: [[[null], 'assertNotBlocked needs current: a block, or undefined']],
    refuseOrganization: [[[], "refuseOrganization needs target: an object such as { kind: 'user', id: '9' }"]],
    refuseTarget: [
      [[], "refuseTarget needs target: an object such as { kind: 'user', id: '9' }"],
      [[{ kind: 'user', id: '9' }], 'refuseTarget needs callerId: a string, or null'],
    ],
    publishedKey: [
      [[null], 'publishedKey needs published: an object with format, or undefined'],
      [[{ format: 'ssh' }], "publishedKey needs asked: 'openpgp' or 'ssh'"],
    ],
    ForgeError: [
      [[], "ForgeError needs code: a string such as 'NOT_BLOCKED'"],
      [['NOT_BLOCKED'], 'ForgeError needs message: a string'],
    ],
    isForgeError: [],
    rolePolicy: [
      [[], 'rolePolicy needs isSiteAdmin: a function of the actor'],
      [[{ isSiteAdmin() {} }], 'rolePolicy needs repositoryRole: a function'],
      [[{ isSiteAdmin() {}, repositoryRole() {} }], 'rolePolicy needs organizationRole: a function'],
    ],
  },
  schema: {
    ForgeError: [],
    isForgeError: [],
    issueJsonSchema: [],
    labelJsonSchema: [],
    reactionJsonSchema: [],
    issueListSchema: [],
    issueSchema: [],
    labelSchema: [],
    reactionSchema: [],
    validateIssues: [
      [[[], null], 'validateIssues needs options: an object such as { limit: 100 }'],
      [[[], 5], 'validateIssues needs options: an object such as { limit: 100 }'],
      [[[], { limit: '5' }], 'limit must be an integer, 1 or greater'],
    ],
  },
  storage: {},
  'storage/memory': { memoryStorage: [] },
  'storage/sqlite': {
    sqliteStorage: [
      [[], 'an SQLite storage needs a file name or an open handle'],
      [[':memory:', null], 'options must be an object such as { prefix: '],
      [[':memory:', 'forge_'], 'options must be an object such as { prefix: '],
    ],
    sqliteSchemaPlan: [[[null], 'options must be an object such as { prefix: ']],
    openSqlite: [
      [[], "openSqlite needs file: the name of a file, or ':memory:'"],
      [[''], "openSqlite needs file: the name of a file, or ':memory:'"],
      [[5], "openSqlite needs file: the name of a file, or ':memory:'"],
    ],
  },
  'storage/postgres': {
    postgresStorage: [
      [[], 'a PostgreSQL storage needs a URL, or a pool of pg'],
      [['postgres://127.0.0.1/forge', null], 'options must be an object such as { prefix: '],
    ],
    postgresSchemaPlan: [[[5], 'options must be an object such as { prefix: ']],
  },
  'storage/mysql': {
    mysqlStorage: [
      [[], 'a MariaDB storage needs a URL, or a pool of mysql2/promise'],
      [['mysql://127.0.0.1/forge', null], 'options must be an object such as { prefix: '],
    ],
    mysqlSchemaPlan: [[[null], 'options must be an object such as { prefix: ']],
  },
  'storage/kysely': { kyselyStorage: [[[], 'kyselyStorage needs a Kysely that is not a transaction']] },
  'storage/durable-object': {
    durableObjectStorage: [[[], 'a Durable Object storage needs the ctx.storage of a Durable Object']],
  },
  http: {
    statusOf: [
      [[], 'statusOf needs code: the code of an error, such as USER_NOT_FOUND'],
      [['toString'], 'statusOf needs code: the code of an error, such as USER_NOT_FOUND'],
    ],
    createApi: [
      [[], 'createApi needs a forge that createForge returned'],
      [[{}], 'createApi needs a forge that createForge returned'],
      [[forge], 'createApi needs options: an object with directory and present'],
      [[forge, {}], 'createApi needs directory.findRepository: a function, for the service pins'],
      [
        [forge, { directory: { findRepository() {} } }],
        'createApi needs directory.findIssue: a function, for the service pins',
      ],
      [[forge, { directory }], 'createApi needs present.issues: a function, for the service pins'],
    ],
    bodyTooLarge: [[[], 'bodyTooLarge needs limit: a number of bytes']],
  },
  node: {
    nodeHandler: [
      [[], 'nodeHandler needs api: an API made by createApi'],
      [[forge], 'nodeHandler needs api: an API made by createApi'],
      [[forge, { authenticate() {} }], 'nodeHandler needs api: an API made by createApi'],
      [[api], 'nodeHandler needs options: an object with authenticate'],
      [[api, {}], 'nodeHandler needs authenticate: a function of the request'],
      [[api, { authenticate() {}, basePath: 5 }], 'basePath must '],
    ],
  },
  express: {
    expressHandler: [
      [[], 'expressHandler needs api: an API made by createApi'],
      [[forge, { authenticate() {} }], 'expressHandler needs api: an API made by createApi'],
      [[api], 'expressHandler needs options: an object with authenticate'],
      [[api, {}], 'expressHandler needs authenticate: a function of the request'],
    ],
  },
  fetch: {
    fetchHandler: [
      [[], 'fetchHandler needs api: an API made by createApi'],
      [[forge, { authenticate() {} }], 'fetchHandler needs api: an API made by createApi'],
      [[api], 'fetchHandler needs options: an object with authenticate'],
      [[api, {}], 'fetchHandler needs authenticate: a function of the request'],
      [[api, { authenticate() {}, basePath: 5 }], 'basePath must '],
    ],
  },
  'signing-keys': {
    openKeyFile: [[[], 'openKeyFile takes a path or a file: URL']],
    openpgpKey: [[[], 'openpgpKey takes the key as a string or as bytes']],
    sshKey: [[[], 'sshKey takes the key as a string']],
    generateKey: [
      [[], 'generateKey needs options: an object with format, name and email'],
      [[{}], 'generateKey needs name as a string'],
    ],
  },
  testing: {
    createTestForge: [
      [[null], 'the options of createTestForge must be an object or omitted'],
      [['fixture.json'], 'the options of createTestForge must be an object or omitted'],
    ],
    storageContract: [
      [[], 'storageContract needs open, a function that returns a fresh storage'],
      [[memoryStorage, null], 'host must be an object or omitted'],
    ],
    mountContract: [
      [[], 'mountContract needs start, a function that starts the application'],
      [[memoryStorage, 5], 'known must be an object or omitted'],
    ],
    trackerContract: [[[], 'trackerContract needs open, a function that returns a new host']],
  },
  exchange: {
    readIssues: [
      [[], 'readIssues needs a source'],
      [[{ json: '[]' }, 5], 'readIssues needs options'],
    ],
    readExchange: [[[{}], 'readExchange needs a source']],
    writeIssues: [[[], 'writeIssues needs issues']],
    // An object. Its methods check what `readExchange` and `writeIssues` check.
    issueDocuments: [],
    canonicalIssue: [
      [[], 'canonicalIssue needs an issue record'],
      [[5], 'canonicalIssue needs an issue record'],
    ],
  },
  'exchange/files': {
    openIssueSource: [[[], 'openIssueSource needs a path']],
    writeIssueFile: [[[5, []], 'writeIssueFile needs a path']],
    writeGiteaDump: [
      [[5, [], { owner: 'ada', name: 'rocket' }], 'writeGiteaDump needs a path'],
      [['dump', []], 'writeGiteaDump needs repository'],
    ],
  },
  standalone: {
    openStandalone: [
      [[], 'openStandalone needs options: an object with db'],
      [['forge.sqlite'], 'openStandalone needs options: an object with db'],
      [[{}], 'db must be a postgres:// or mysql:// URL'],
    ],
    createAccessToken: [
      [[], 'location must be an object such as'],
      [[{}, 'olga'], 'db must be a postgres:// or mysql:// URL'],
    ],
    inspectDatabase: [
      [[], 'location must be an object such as'],
      [[{}], 'db must be a postgres:// or mysql:// URL'],
    ],
    listAccessTokens: [
      [[], 'location must be an object such as'],
      [[{}, 'olga'], 'db must be a postgres:// or mysql:// URL'],
    ],
    revokeAccessToken: [
      [[], 'location must be an object such as'],
      [[{}, 'olga', '0'], 'db must be a postgres:// or mysql:// URL'],
    ],
    // A fixture is a document that people write: what is wrong with it is INVALID_INPUT.
    parseFixture: [],
  },
}

const entries = Object.entries(tsup.entry ?? {}).filter(([name]) => name !== 'cli')

/** What the engine says of a value that was never checked. */
const RAW =
  /^Cannot |is not (a function|iterable|a constructor)|^Reduce of|undefined \(reading|not an object \(evaluating|Right-hand side/

test.each(entries)('every export of %s has a row for wrong arguments', async (entry, file) => {
  const exported = await import(resolve(String(file)))

  expect(Object.keys(ROWS[entry] ?? {}).sort()).toEqual(Object.keys(exported).sort())
})

const calls = entries.flatMap(([entry, file]) =>
  Object.entries(ROWS[entry] ?? {}).flatMap(([name, rows]) =>
    rows.map(([args, message]) => ({ name, file: String(file), args, message })),
  ),
)

test.each(calls)('$name says: $message', async ({ name, file, args, message }) => {
  const exported = await import(resolve(file))
  const error = await outcomeOf(() => callOrConstruct(exported[name], args))

  expect(error).toBeInstanceOf(TypeError)
  expect(error).toMatchObject({ message: expect.stringContaining(message) })
})

test.each(['nodeHandler', 'expressHandler', 'fetchHandler', 'createForge', 'createApi'])(
  '%s throws at the call, not later',
  async (name) => {
    const { file } = calls.find((call) => call.name === name) ?? {}
    const exported = await import(resolve(String(file)))

    expect(() => exported[name](forge)).toThrow(TypeError)
  },
)

const WRONG: readonly (readonly unknown[])[] = [
  [],
  [undefined, undefined, undefined],
  [null, null, null],
  ['system'],
  ['system', null, null],
  ['system', 5, 5, 5],
  ['system', {}, {}, {}],
  [{ id: 1 }],
  [{ id: 1 }, null, null, null],
  ['name', undefined],
  [{}, null],
]

test.each(methodsOf(forge))('%s says what is wrong with its arguments', async (_name, method) => {
  for (const args of WRONG) {
    const error = await outcomeOf(() => method(...args))

    if (error instanceof Error && error.name === 'TypeError') expect(error.message).not.toMatch(RAW)
    else if (error !== undefined) expect(error).toMatchObject({ name: 'ForgeError' })
  }
})

test.each([
  ['pins.pin', () => Reflect.apply(forge.pins.pin, undefined, ['system']), `issue must be ${issueText}`],
  ['pins.list', () => Reflect.apply(forge.pins.list, undefined, ['system']), 'board must be an object such as { re'],
  ['blocks.block', () => Reflect.apply(forge.blocks.block, undefined, ['system']), 'target must be an object such as'],
  [
    'badges.grant',
    () => Reflect.apply(forge.badges.grant, undefined, ['system', 1]),
    "grants must be an object such as { userId: 9, slugs: ['night-owl'] }",
  ],
  [
    'badges.grant',
    () => Reflect.apply(forge.badges.grant, undefined, ['system', { userId: 1 }]),
    'grants.slugs must be an array of strings',
  ],
  [
    'pins.move',
    () => Reflect.apply(forge.pins.move, undefined, ['system']),
    'target must be an object such as { issue',
  ],
  ['blocks.list', () => Reflect.apply(forge.blocks.list, undefined, ['system']), 'request must be an object such as'],
  [
    'blocks.filterBlocked',
    () => Reflect.apply(forge.blocks.filterBlocked, undefined, []),
    'candidates must be an object such as',
  ],
  [
    'events.consume',
    () => Reflect.apply(forge.events.consume, undefined, ['x']),
    'the handler of events must be a func',
  ],
  [
    'events.consume',
    () => Reflect.apply(forge.events.consume, undefined, ['x', () => undefined]),
    'consume needs { signal }',
  ],
  ['authorize', () => Reflect.apply(forge.authorize, undefined, ['system']), 'request must be an object such as'],
  [
    'join',
    () => Reflect.apply(forge.withTransaction, undefined, []),
    'withTransaction needs work: a function of the services',
  ],
  [
    'withTransactionSync',
    () => Reflect.apply(forge.withTransactionSync, undefined, []),
    'withTransactionSync needs work: a function of the services',
  ],
  ['events.prune', () => Reflect.apply(forge.events.prune, undefined, []), 'prune needs { before }'],
  [
    'events.list',
    () => Reflect.apply(forge.events.list, undefined, []),
    'filter must be an object such as { userId: 9 }',
  ],
  ['lifecycle.issueDeleted', () => Reflect.apply(forge.lifecycle.issueDeleted, undefined, []), 'issue must be an obj'],
])('%s names its argument', async (_name, call, message) => {
  expect(await outcomeOf(call)).toMatchObject({ name: 'TypeError', message: expect.stringContaining(message) })
})

/** Every method of a forge and of its services, by its path. */
function methodsOf(value: object, path = ''): (readonly [string, (...args: readonly unknown[]) => unknown])[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (path === '' && name === 'close') return []
    if (typeof member === 'function') return [[`${path}${name}`, (...args) => member(...args)] as const]
    return typeof member === 'object' && member !== null ? methodsOf(member, `${path}${name}.`) : []
  })
}

function callOrConstruct(exported: unknown, args: readonly unknown[]): unknown {
  if (typeof exported !== 'function') throw new Error('this export cannot be called')
  return Function.prototype.toString.call(exported).startsWith('class')
    ? Reflect.construct(exported, args)
    : Reflect.apply(exported, undefined, args)
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
