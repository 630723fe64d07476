import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { storageContract } from '../../app/testing/testing.ts'
import type { DurableObjectDatabase } from '../../src/storage/durable-object.ts'
import { durableObjectStorage } from '../../src/storage/durable-object.ts'
import { block, blockedBy } from '../../src/testing/storage-contract/samples/blocks.ts'
import { kitRows, kitStatements, kitTables } from './storage-kind.ts'

/** A real SQLite with the calls, the nesting and the messages of a Durable Object. What only an object does is tested on workerd. */
class ObjectDatabase implements DurableObjectDatabase {
  readonly #handle = new Database(':memory:')

  readonly sql: DurableObjectDatabase['sql'] = {
    exec: (query, ...bindings) => {
      const rows = this.#run(query, bindings)
      return { toArray: () => rows }
    },
  }

  transactionSync<T>(work: () => T): T {
    return this.#handle.transaction(work)()
  }

  /** Runs work all or nothing, as `ctx.storage.transaction` does: other calls see what it has written so far. */
  async transaction(work: () => Promise<unknown>): Promise<void> {
    this.#handle.exec('begin')
    try {
      await work()
      this.#handle.exec('commit')
    } catch {
      this.#handle.exec('rollback')
    }
  }

  /** Lets it grow no more. */
  fill(): void {
    this.#handle.pragma(`max_page_count = ${this.#handle.pragma('page_count', { simple: true })}`)
  }

  #run(query: string, bindings: readonly unknown[]): unknown[] {
    try {
      const statement = this.#handle.prepare(query)
      if (statement.reader) return statement.all(...bindings)
      statement.run(...bindings)
      return []
    } catch (error) {
      if (error instanceof Database.SqliteError) throw new Error(`${error.message}: ${error.code}`)
      throw error
    }
  }
}

test.each([undefined, null, 7, 'ctx.storage', {}, { sql: {} }, { transactionSync: () => undefined }])(
  'refuses %j for the storage of a Durable Object',
  (storage) => {
    expect(() => Reflect.apply(durableObjectStorage, undefined, [storage])).toThrow(/^a Durable Object storage needs/)
  },
)

test('refuses an invalid prefix', () => {
  expect(() => durableObjectStorage(new ObjectDatabase(), { prefix: 'Forge_' })).toThrow(TypeError)
})

test('an object that is full is STORAGE_UNAVAILABLE, and what was answered is there', async () => {
  const database = new ObjectDatabase()
  const storage = durableObjectStorage(database)
  await storage.migrate()
  database.fill()
  const kept: string[] = []
  const fill = async () => {
    for (let id = 1; ; id += 1) {
      await block(storage, '1', String(id), { note: 'n'.repeat(255) })
      kept.push(String(id))
    }
  }

  await expect(fill()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: 'the disk is full' })
  expect(kept.length).toBeGreaterThan(0)
  expect(await blockedBy(storage, '1')).toEqual(kept)
})

const objects = new WeakMap<object, ObjectDatabase>()
const openWithTables = async () => {
  const database = new ObjectDatabase()
  for (const statement of kitStatements()) database.sql.exec(statement)
  const storage = durableObjectStorage(database, { tables: kitTables(true) })
  await storage.migrate()
  objects.set(storage, database)
  return storage
}
const tables = {
  ...kitRows<ObjectDatabase>((storage, sql) => objects.get(storage)?.sql.exec(sql)),
  open: openWithTables,
}
const OF_TABLES =
  /(seed 1|deletes|deleted|no row|under the lock|become members|comes back|shown again).*, where the tables/

for (const { name, run } of storageContract(openWithTables, { tables }).filter((one) => OF_TABLES.test(one.name))) {
  test(`in an object, ${name}`, run)
}
