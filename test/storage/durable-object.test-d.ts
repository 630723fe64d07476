import { expectTypeOf, test } from 'vitest'
import type { DurableObjectDatabase } from '../../src/storage/durable-object.ts'
import { durableObjectStorage } from '../../src/storage/durable-object.ts'

type Value = ArrayBuffer | string | number | null

/** As Cloudflare declares them, as far as we call them. */
declare abstract class SqlStorage {
  exec<T extends Record<string, Value>>(query: string, ...bindings: unknown[]): SqlStorageCursor<T>
  get databaseSize(): number
}
declare abstract class SqlStorageCursor<T extends Record<string, Value>> {
  next(): { done?: false; value: T } | { done: true; value?: never }
  toArray(): T[]
}
interface DurableObjectStorage {
  get<T = unknown>(key: string): Promise<T | undefined>
  sql: SqlStorage
  transactionSync<T>(closure: () => T): T
}

test('the storage of a Durable Object is one', () => {
  expectTypeOf<DurableObjectStorage>().toExtend<DurableObjectDatabase>()
  expectTypeOf<Omit<DurableObjectStorage, 'sql'>>().not.toExtend<DurableObjectDatabase>()
})

test('the storage of the object is the transaction of its host', () => {
  const open = (storage: DurableObjectStorage) => durableObjectStorage(storage)
  type Entered = Parameters<ReturnType<typeof open>['checkTransaction']>[0]

  expectTypeOf<Entered>().toEqualTypeOf<DurableObjectStorage>()
})
