import type { ForgeStorage } from './contract/storage.ts'
import type { SqlStorageOptions } from './sql/context.ts'
import type { DurableObjectDatabase } from './sql/durable-object.ts'
import { createDurableObjectStorage } from './sql/durable-object.ts'

export type { SqlStorageOptions } from './sql/context.ts'
export type { DurableObjectDatabase } from './sql/durable-object.ts'
export type { IdColumn, IdColumns } from './sql/ids.ts'

/**
 * A storage in the SQLite of a Cloudflare Durable Object: `durableObjectStorage(ctx.storage)`. It needs no Node built-in, and
 * so no compatibility flag. Nothing is run before the first use; tables are made by `migrate()` alone, best in the object's
 * constructor inside `ctx.blockConcurrencyWhile`. `sqliteSchemaPlan()` of `forgelet/storage/sqlite` tells the statements, with
 * a BEGIN and COMMIT that an object refuses.
 *
 * A change is written when its call is answered, and Cloudflare lets nothing leave the object before it is on disk.
 *
 * Transactions are `ctx.storage.transactionSync`, of which only the call stack knows whether one is open:
 *
 * - Inside one, `forge.joinSync(ctx.storage, work)` is a part of it: it is rolled back with it, and a call that is refused
 *   is taken back alone. Outside of one, `joinSync` takes back only the calls that are refused; what it wrote is committed
 *   with everything else that the object writes before it next waits.
 * - What is called plainly there runs after it, and is no part of it.
 * - An asynchronous `ctx.storage.transaction` is not told apart from none: what is called while its work waits is a part
 *   of it. Do not call the forge there but through `joinSync`.
 *
 * @param storage - `ctx.storage` of an object whose class has SQLite (`new_sqlite_classes`: without it the first call fails with
 * the object's own error); `beforeCommit` gets it too
 * @throws TypeError for an option that is none, or a value that is no such storage. Every call: ForgeError `SCHEMA_OUTDATED` before
 * `migrate()`, `SCHEMA_TOO_NEW`, `STORAGE_UNAVAILABLE` when the object is full; TypeError for an id that does not fit its column
 */
export function durableObjectStorage<S extends DurableObjectDatabase>(
  storage: S,
  options: SqlStorageOptions = {},
): ForgeStorage<S> {
  return createDurableObjectStorage(storage, options)
}
