import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SqliteHandle } from '../../../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../../../src/storage/sqlite.ts'
import { outcomeOf } from '../../../../src/testing/storage-contract/cases/storage-case.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { newFile, newStorage, openHandle, openStorage } from '../database-files.ts'
import { pinning } from '../pinning.ts'

type Statement = ReturnType<SqliteHandle['prepare']>

/** Handles that only look like those of a driver that works, by what their statements do. */
const UNLIKE: Readonly<Record<string, (sound: Statement) => object>> = {
  'rows as arrays': (sound) => ({
    all: (...given: unknown[]) => sound.all(...given).map((row) => Object.values(Object(row))),
  }),
  'no rows': () => ({ all: () => [] }),
  // as libsql
  'the row of the parameters before': (sound) => {
    let last: unknown[] = []
    return {
      all(...given: unknown[]) {
        last = given
        return sound.all(...given)
      },
      get: () => sound.get(...last),
    }
  },
  'a property more in a single row': (sound) => ({
    get: (...given: unknown[]) => ({ ...Object(sound.get(...given)), _metadata: { duration: 0 } }),
  }),
  // as Turso
  promises: (sound) => ({ all: async (...given: unknown[]) => sound.all(...given) }),
  // as sql.js
  'nothing to call': () => ({ all: undefined }),
}

describe('a handle whose statements return', () => {
  test.each(Object.entries(UNLIKE))(
    '%s is a TypeError that names what works, and nothing is written',
    async (_, alter) => {
      for (const file of [newFile(), ':memory:']) {
        const database = openHandle(file)
        const unlike = (sql: string): Statement => {
          const sound = database.prepare(sql)
          const { all, get, run } = sound
          const bound = { all: all.bind(sound), get: get.bind(sound), run: run.bind(sound) }
          return { ...bound, ...alter(bound) }
        }
        const handle: SqliteHandle = { prepare: unlike, exec: (sql) => database.exec(sql) }
        const named = expect.objectContaining({
          name: 'TypeError',
          message: expect.stringMatching(/better-sqlite3, node:sqlite or bun:sqlite/),
        })
        await expect(newStorage(handle).migrate()).rejects.toEqual(named)
        await expect(newStorage(handle).schemaStatus()).rejects.toEqual(named)
        database.exec('begin immediate')
        const other = await openStorage(newFile())
        expect(() => other.checkTransaction(handle)).toThrow(named)
        database.exec('commit')

        expect(database.prepare('select count(*) as tables from sqlite_schema').get()).toEqual({ tables: 0 })
      }
    },
  )

  test('no table without a rowid is refused too', async () => {
    const database = openHandle(newFile())
    const prepare = (sql: string): Statement => {
      if (sql.includes('without rowid')) throw new Error('WITHOUT ROWID tables are an experimental feature')
      return database.prepare(sql)
    }

    await expect(newStorage({ prepare, exec: (sql) => database.exec(sql) }).migrate()).rejects.toThrow(TypeError)
  })
})

/** As a driver with keys: what was written with a key is no database without it, and nor is a file that was empty when it was opened. */
class Keyed extends Database {
  readonly #file: string
  #wasEmpty: boolean
  #key: string | undefined

  constructor(file: string) {
    super(file, { timeout: 0 })
    this.#file = file
    this.#wasEmpty = statSync(file, { throwIfNoEntry: false })?.size === 0
  }

  key(key: string): this {
    this.#key = key
    return this
  }

  override prepare(sql: string): never {
    this.#check()
    return super.prepare(sql) as never // the types of better-sqlite3 infer its parameters
  }

  override exec(sql: string): this {
    this.#check()
    if (/begin|create/.test(sql)) this.#wasEmpty = false // it writes the first page
    return super.exec(sql)
  }

  #check(): void {
    const isEmpty = statSync(this.#file).size === 0
    if (isEmpty || (this.#key === 'secret' && !this.#wasEmpty)) return
    throw new Database.SqliteError('file is not a database', 'SQLITE_NOTADB')
  }
}

describe('a handle with a key, on a new file', () => {
  const keyed = (file: string): Keyed => new Keyed(file).key('secret')

  const rowsOf = (handle: SqliteHandle, sql: string): unknown[] => handle.prepare(sql).all()

  function openKeyed(file = newFile()): Keyed {
    const handle = keyed(file)
    onTestFinished(() => void handle.close())
    return handle
  }

  test('is a TypeError that names open, before anything is written without the key', async () => {
    const handle = openKeyed()

    await expect(newStorage(handle).migrate()).rejects.toThrow(/^a second handle .* open: \(file\)/)
    await expect(newStorage(handle).migrate()).rejects.toBeInstanceOf(TypeError)
    expect(rowsOf(handle, 'select count(*) as tables from sqlite_schema')).toEqual([{ tables: 0 }])
  })

  test('is used with open, which opens the handles of the storage on a file that has its first page', async () => {
    const handle = openKeyed()
    const sizes: number[] = []
    const open = (file: string): Keyed => {
      sizes.push(statSync(file).size)
      return keyed(file)
    }
    const storage = newStorage(handle, { open })
    expect(await storage.schemaStatus()).toEqual({ state: 'empty', warnings: [] })
    expect(await outcomeOf(() => storage.pinBoards.load(BOARD))).toMatchObject({ thrown: { code: 'SCHEMA_OUTDATED' } })
    await storage.migrate()
    expect(await pin(storage, BOARD, '1')).toBe(1)

    handle.exec('begin immediate')
    storage.checkTransaction(handle)
    storage.pinBoards.update(BOARD, pinning('2', { transaction: handle }))
    handle.exec('commit')
    expect(await issuesOn(storage, BOARD)).toEqual(['1', '2'])
    expect(sizes.every((size) => size > 0)).toBe(true)
  })
})

describe('a handle beside which no other can be opened', () => {
  class OfOptions extends Database {
    constructor({ file }: { readonly file: string }) {
      super(file)
    }
  }
  test.each<readonly [string, (file: string) => SqliteHandle & { close(): unknown }]>([
    ['its constructor takes an object', (file) => new OfOptions({ file })],
    [
      'its class returns no handle',
      (file) => Object.setPrototypeOf(new Database(file), { ...Database.prototype, constructor: Object }),
    ],
  ])('is a TypeError with the fix, which works: %s', async (_, make) => {
    const file = newFile()
    const handle = make(file)
    onTestFinished(() => void handle.close())
    await expect(newStorage(handle).migrate()).rejects.toThrow(/open: \(file\)/)
    const storage = await openStorage(handle, { open: make })

    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test.each([
    () => undefined,
    () => new Database(newFile()),
    () => {
      throw new Error('of the host')
    },
  ])('because open returns no handle on its file, is a TypeError', async (open) => {
    const storage = Reflect.apply(sqliteStorage, undefined, [openHandle(newFile()), { open }])

    await expect(storage.migrate()).rejects.toThrow(TypeError)
  })

  test.each([
    [newFile, () => undefined],
    [() => openHandle(':memory:'), 'open'],
  ])('is refused an open that cannot be called or is beside a file: %s', (make, open) => {
    expect(() => Reflect.apply(sqliteStorage, undefined, [make(), { open }])).toThrow(/open: a function/)
  })

  test.each(['the handle', 'open'])(
    'because %s locks exclusively, is a TypeError that names locking_mode',
    async (which) => {
      const exclusive = (file: string) => {
        const handle = openHandle(file)
        handle.pragma('locking_mode = exclusive')
        return handle
      }
      const file = newFile()
      const storage =
        which === 'open' ? sqliteStorage(openHandle(file), { open: exclusive }) : newStorage(exclusive(file))

      await expect(storage.migrate()).rejects.toThrow(/locking_mode = exclusive/)
      await expect(storage.migrate()).rejects.toBeInstanceOf(TypeError)
    },
  )
})

test('migrating on the one connection there is, inside the host transaction, is a TypeError at once', async () => {
  const handle = openHandle(':memory:')
  handle.exec('begin')

  await expect(newStorage(handle).migrate()).rejects.toThrow(/inside a transaction/)
})

test('a handle that reports its transactions is not asked by a BEGIN', async () => {
  const statements: string[] = []
  const handle = new Database(newFile(), { verbose: (sql) => void statements.push(String(sql)) })
  onTestFinished(() => void handle.close())
  const storage = await openStorage(handle)
  statements.length = 0
  await pin(storage, BOARD, '1')
  expect(statements).toEqual([])

  handle.exec('begin immediate')
  storage.checkTransaction(handle)
  storage.pinBoards.update(BOARD, pinning('2', { transaction: handle }))
  handle.exec('commit')

  expect(statements.filter((sql) => /begin|rollback/.test(sql))).toEqual(['begin immediate'])
})
