import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runSync } from '../../src/schema/sync-or-async.ts'
import { generateKey } from '../../src/signing-keys/signing-keys.ts'
import { HostSchema } from '../../src/standalone/host-store/host-schema.ts'
import { hostContext } from '../../src/standalone/host-store/host-tables.ts'
import type { Standalone, StandaloneOptions } from '../../src/standalone/standalone.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { createSqlContext } from '../../src/storage/sql/context.ts'
import { sqliteDialect } from '../../src/storage/sql/dialects/sqlite.ts'
import { migrateAtOnce } from '../../src/storage/sql/schema/migrate-at-once.ts'
import { Connection } from '../../src/storage/sql/sqlite/connection.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { WORLD } from './world.ts'

let folder: string
let file: string
const open: Standalone[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-standalone-'))
  file = join(folder, 'forge.sqlite')
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((host) => host.close()))
  await rm(folder, { recursive: true })
})

async function opened(options: Partial<StandaloneOptions> = {}): Promise<Standalone> {
  const host = await openStandalone({ db: file, ...options })
  open.push(host)
  return host
}

async function codeOf(refused: Promise<unknown>): Promise<unknown> {
  return refused.then(
    () => 'opened',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  )
}

const alice = { id: '1', username: 'Alice' }
const rocket = { repositoryId: '1', kind: 'issue' } as const

describe.each(['a file', ':memory:'])('a standalone host on %s', (where) => {
  const db = (): string => (where === ':memory:' ? where : file)

  test("loads a fixture whole, what is the forge's own included", async () => {
    const host = await opened({ db: db(), fixture: WORLD })
    expect(host.fixture).toBe('loaded')
    expect(await host.forge.pins.list('anonymous', rocket)).toMatchObject([
      { issueId: '3', position: 1, pinnedBy: null },
      { issueId: '1', position: 2 },
    ])
    expect((await host.forge.blocks.list(alice, { organizationId: '6' })).items).toMatchObject([
      { userId: '4', note: 'spam' },
    ])
    expect(await host.forge.badges.heldBy(alice, '3')).toMatchObject([{ badge: { slug: 'night-owl' } }])
    expect((await host.forge.badges.catalogue.list(alice)).total).toBe(2)
  })

  test('opens empty without a fixture', async () => {
    expect((await opened({ db: db() })).fixture).toBe('none')
  })

  test('identifies the user of a token, and refuses a wrong one', async () => {
    const host = await opened({ db: db(), fixture: WORLD })
    expect(await host.authenticate('token alice-token')).toEqual(alice)
    expect(await host.authenticate(undefined)).toBe(null)
    expect(await host.authenticate('Digest x')).toBe(null)
    expect(await codeOf((async () => host.authenticate('token wrong'))())).toBe('INVALID_CREDENTIALS')
    expect(host.authenticate('token alice-token')).toEqual(alice) // at once
  })

  test('takes nothing in when one thing is refused', async () => {
    const refused = opened({ db: db(), fixture: WORLD, limits: { maxNoteLength: 2 } })
    expect(await codeOf(refused)).toBe('INVALID_INPUT')
    if (where !== ':memory:') expect((await opened({ fixture: WORLD })).fixture).toBe('loaded')
  })

  test('closes twice', async () => {
    const host = await openStandalone({ db: db() })
    await host.close()
    await host.close()
  })
})

test('closes the file when an option is refused', async () => {
  const close = vi.spyOn(Database.prototype, 'close')
  onTestFinished(() => close.mockRestore())
  await expect(openStandalone({ db: file, limits: { maxPins: { issue: -1 } } })).rejects.toThrow(/maxPins/)

  expect(close.mock.contexts).toMatchObject([{ name: file }])
})

test('keeps its data, and ignores a fixture then', async () => {
  const first = await opened({ fixture: WORLD })
  await first.forge.pins.unpin(alice, { id: '3', ...rocket })
  await first.close()
  const second = await opened({ fixture: WORLD })
  expect(second.fixture).toBe('ignored')
  expect(await second.forge.pins.list('anonymous', rocket)).toMatchObject([{ issueId: '1', position: 1 }])
})

test('two hosts share a file', async () => {
  const one = await opened({ fixture: WORLD })
  const other = await opened()
  await one.forge.pins.unpin(alice, { id: '3', ...rocket })
  expect(await other.forge.pins.list('anonymous', rocket)).toHaveLength(1)
})

test("serves the fixture's signing key, on a database that ignores the fixture too", async () => {
  const { privateKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
  await writeFile(join(folder, 'key'), privateKey)
  const fixture = { ...WORLD, signingKey: { file: join(folder, 'key') } }
  await (await opened({ fixture })).close()
  const host = await opened({ fixture })
  expect(await host.forge.signingKeys.publicKey('anonymous', { format: 'ssh' })).toMatchObject({ format: 'ssh' })
})

test('finishes what a process that was killed at its first start has left', async () => {
  const database = new Database(file)
  const forge = createSqlContext(sqliteDialect)
  const tables = new HostSchema(hostContext(forge), forge, 'file')
  runSync(migrateAtOnce(tables, new Connection(database, 'call', 'us')))
  database.close()
  expect((await opened({ fixture: WORLD })).fixture).toBe('loaded')
})

test('starts several times at once on a new file', async () => {
  const hosts = await Promise.all([opened({ fixture: WORLD }), opened({ fixture: WORLD }), opened({ fixture: WORLD })])
  expect(hosts.map(({ fixture }) => fixture).sort()).toEqual(['ignored', 'ignored', 'loaded'])
})

test('moves in beside tables of another name', async () => {
  const database = new Database(file)
  database.exec('create table host_names (name text); create table forge (name text)')
  database.close()
  expect((await opened({ fixture: WORLD })).fixture).toBe('loaded')
})

/** The bytes of a database with one table. */
function database(): Buffer {
  const handle = new Database(':memory:')
  try {
    return handle.exec('create table notes (text text)').serialize()
  } finally {
    handle.close()
  }
}

describe('a standalone host is refused', () => {
  test('for another kind of database, without its password', async () => {
    const refused = openStandalone({ db: 'oracle://u:secret@example.com/forge' })
    await expect(refused).rejects.toThrow(
      new TypeError(
        'db: oracle:// is not supported: give a postgres:// or mysql:// URL, an SQLite file, or ":memory:"',
      ),
    )
  })

  test.each([' postgres://u:secret@example.com/forge', 'jdbc:postgresql://u:secret@example.com/forge'])(
    'for a URL that does not begin as one: %j',
    async (db) => {
      const refused = openStandalone({ db })
      await expect(refused).rejects.toThrow(
        new TypeError('db: a URL is not supported: give a postgres:// or mysql:// URL, an SQLite file, or ":memory:"'),
      )
    },
  )

  test.each([
    ['a schema on a database without schemas', { schema: 'forge' }, 'schema is for PostgreSQL: leave it out'],
    ['an invalid prefix', { prefix: 'Forge-' }, 'prefix must be 1 to 31 lower-case letters'],
  ])('for %s, before a file is made', async (_what, options, message) => {
    await expect(openStandalone({ db: file, ...options })).rejects.toThrow(message)
    expect(await readdir(folder)).toEqual([])
  })

  test.each(['', ' ', '\t\n'])('for a blank name: %j', async (db) => {
    await expect(openStandalone({ db })).rejects.toThrow(
      new TypeError('db must be a postgres:// or mysql:// URL, an SQLite file, or ":memory:"'),
    )
  })

  test.each([
    'create table host_accounts (id integer)',
    'create view HOST_LABELS as select 1 as label',
    'create table host_schema (entry text)',
    'create table forgelet_pins (pin text)',
    'create table notes (text text); create index forgelet_notes on notes (text)',
    'create table forgelet_ledger (entry text)',
  ])('on tables of another program, and leaves them as they are: %s', async (sql) => {
    const database = new Database(file)
    database.exec(sql)
    database.close()
    const before = await readFile(file)
    await expect(openStandalone({ db: file, fixture: WORLD })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: 'it holds tables of another program: name another file',
    })
    expect((await readFile(file)).equals(before)).toBe(true)
    expect(await readdir(folder)).toEqual(['forge.sqlite'])
  })

  test('on the forge of an application, and leaves it as it is', async () => {
    const storage = sqliteStorage(file)
    await storage.migrate()
    await storage.close()
    const before = await readFile(file)
    await expect(openStandalone({ db: file, fixture: WORLD })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: "it holds the forge of an application and none of this server's tables: name another file",
    })
    expect((await readFile(file)).equals(before)).toBe(true)
    expect(await readdir(folder)).toEqual(['forge.sqlite'])
  })

  test('for a fixture with mistakes, before a file is made', async () => {
    expect(await codeOf(openStandalone({ db: file, fixture: { users: [{}] } }))).toBe('INVALID_INPUT')
    expect(await codeOf(Promise.resolve().then(() => new Database(file, { fileMustExist: true })))).toBe(
      'SQLITE_CANTOPEN',
    )
  })

  test.each([
    ['update host_schema set version = 99, oldest_library = 99', 'SCHEMA_TOO_NEW'],
    ['update forgelet_ledger set version = 99, oldest_library = 99', 'SCHEMA_TOO_NEW'],
  ])('on tables of a newer release: %s', async (sql, code) => {
    await (await openStandalone({ db: file })).close()
    const database = new Database(file)
    database.exec(sql)
    database.close()
    expect(await codeOf(openStandalone({ db: file }))).toBe(code)
  })

  test.each([
    [
      'is not a database',
      () => Buffer.from('no database. '.repeat(20)),
      'it is not an SQLite database: name another file',
    ],
    ['is damaged', () => database().fill(0xff, 100), 'it is damaged: restore a copy, or name another file'],
    // A format that this SQLite may only read, byte 18 of the header, because root may write every file.
    [
      'cannot be written',
      () => database().fill(3, 18, 19),
      'it cannot be written: change its permissions, or name another file',
    ],
  ])('on a file that %s', async (_what, content, message) => {
    await writeFile(file, content())
    await expect(openStandalone({ db: file })).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message })
  })

  test('on a file in a file', async () => {
    await writeFile(file, '')
    await expect(openStandalone({ db: join(file, 'forge.sqlite') })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: 'it cannot be opened: name a file that can be read and written',
    })
  })

  test.each([['a device', () => '/dev/null', 'it is a pipe or a device: name an ordinary file']])(
    'on %s',
    async (_what, db, message) => {
      await expect(openStandalone({ db: db() })).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message })
    },
  )
})
