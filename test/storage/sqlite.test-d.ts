import type Database from 'better-sqlite3'
import { expectTypeOf, test } from 'vitest'
import type { SqliteHandle } from '../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'

/** As node:sqlite declares its handles, as far as we call them. */
declare class DatabaseSync {
  constructor(path: string, options?: { readonly open?: boolean })
  prepare(sql: string): {
    all(
      named: Record<string, null | number | bigint | string | Uint8Array>,
      ...anonymous: (null | number | bigint | string | Uint8Array)[]
    ): unknown[]
    all(...anonymous: (null | number | bigint | string | Uint8Array)[]): unknown[]
    get(
      named: Record<string, null | number | bigint | string | Uint8Array>,
      ...anonymous: (null | number | bigint | string | Uint8Array)[]
    ): unknown
    get(...anonymous: (null | number | bigint | string | Uint8Array)[]): unknown
    run(...anonymous: (null | number | bigint | string | Uint8Array)[]): { changes: number | bigint }
  }
  exec(sql: string): void
}

test('the handles of better-sqlite3 and node:sqlite are handles', () => {
  expectTypeOf<Database.Database>().toExtend<SqliteHandle>()
  expectTypeOf<DatabaseSync>().toExtend<SqliteHandle>()
  expectTypeOf<{ prepare(sql: string): unknown }>().not.toExtend<SqliteHandle>()
})

test('the handle of the storage is the transaction of its host', () => {
  const open = (handle: Database.Database) => sqliteStorage(handle)
  type Entered = Parameters<ReturnType<typeof open>['checkTransaction']>[0]

  expectTypeOf<Entered>().toEqualTypeOf<Database.Database>()
  // @ts-expect-error: a number is no handle
  sqliteStorage(7)
})
