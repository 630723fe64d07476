import type { ForgeStorage } from './contract/storage.ts'
import type { SqlStorageOptions } from './sql/context.ts'
import type { DurableObjectDatabase } from './sql/durable-object.ts'
import { createDurableObjectStorage } from './sql/durable-object.ts'

export type { SqlStorageOptions } from './sql/context.ts'
export type { IdColumn } from './sql/dialect.ts'
export type { DurableObjectDatabase } from './sql/durable-object.ts'
export type { IdColumns } from './sql/ids.ts'

/**
 * A storage in the SQLite of a Cloudflare Durable Object: `durableObjectStorage(ctx.storage)`. It needs no Node
 * built-in, and so no compatibility flag. It runs nothing before the first use. Only `migrate()` creates tables; call
 * it in the object's constructor inside `ctx.blockConcurrencyWhile`. `sqliteSchemaPlan()` of `forgelet/storage/sqlite`
 * returns the statements, with a BEGIN and COMMIT that a Durable Object refuses.
 *
 * A change is written when its call returns, and Cloudflare lets nothing leave the object before the change is on disk.
 *
 * Transactions are `ctx.storage.transactionSync`. Only the call stack shows whether one is open:
 *
 * - Inside one, `forge.withTransactionSync(ctx.storage, work)` is part of it: the work is rolled back with it, and a
 *   call that is refused is rolled back alone. Outside of one, `withTransactionSync` rolls back only the calls that are
 *   refused; what it wrote is committed with everything else that the object writes before it next waits.
 * - A plain call made inside one runs after it, and is not part of it.
 * - The storage cannot detect an asynchronous `ctx.storage.transaction`: a call made while its work waits is part of
 *   it. Inside it, call the forge only through `withTransactionSync`.
 *
 * @param storage - `ctx.storage` of an object whose class has SQLite (`new_sqlite_classes`: without it the first call
 * fails with the object's own error); `beforeCommit` receives it too
 * @throws TypeError if an option or the storage is invalid. Every call: ForgeError `SCHEMA_OUTDATED` before
 * `migrate()`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE` if the object is full; TypeError if an id does not fit its
 * column
 */
export function durableObjectStorage<S extends DurableObjectDatabase>(
  storage: S,
  options: SqlStorageOptions = {},
): ForgeStorage<S> {
  return createDurableObjectStorage(storage, options)
}
