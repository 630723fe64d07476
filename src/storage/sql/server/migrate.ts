import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runAsync, wait } from '../../../schema/sync-or-async.ts'
import type { SchemaChanges } from '../dialect.ts'
import { busy } from '../errors.ts'
import { limitedTo, retry } from '../retry.ts'
import { migrateAtOnce } from '../schema/migrate-at-once.ts'
import type { MigratedTables, MigrationPart } from '../schema/migration.ts'
import type { Queryable } from '../session.ts'
import { execute, query, queryFirst } from '../session.ts'
import type { Deadline } from './call-deadline.ts'
import type { DatabaseServer } from './database-server.ts'

/**
 * How long to wait, in milliseconds, for another process that migrates; and, at each part, for the users of the tables.
 */
export interface MigrationLimits {
  readonly others: number
  readonly users: number
}

const MIGRATION_LIMITS: MigrationLimits = { others: 300_000, users: 60_000 }

/**
 * Migrates the tables on a server, while they are in use and other processes may do the same. The next call completes
 * what was begun and not ended.
 *
 * @throws ForgeError `SCHEMA_TOO_NEW`, `STORAGE_BUSY` if others took too long, `STORAGE_UNAVAILABLE`; TypeError if ids
 * are stored in other columns
 */
export async function migrateServer<Tx extends object>(
  server: DatabaseServer<Tx>,
  schema: MigratedTables,
  deadline: Deadline,
  patience: MigrationLimits = MIGRATION_LIMITS,
): Promise<void> {
  const changes = schema.context.dialect.schemaChanges
  if (changes === undefined) {
    await whenFree(patience.users, () => migrateAlone(server, schema, deadline))
    return
  }
  // One session: it holds the lock, and a pool may have no other connection.
  await server.plainly(
    (connection) => runAsync(new ServerMigration({ connection, schema, changes, patience }).run()),
    deadline,
  )
}

async function migrateAlone<Tx extends object>(
  server: DatabaseServer<Tx>,
  schema: MigratedTables,
  deadline: Deadline,
): Promise<void> {
  const needed = await server.plainly((connection) => runAsync(schema.needsMigration(connection)), deadline)
  if (!needed) return
  await server.inTransaction((connection) => runAsync(migrateAtOnce(schema, unlimited(connection))), deadline)
}

/** The duration of a schema change grows with the size of the tables. */
function unlimited(connection: Queryable): Queryable {
  return { all: (statement) => connection.all({ mayTakeLong: true, ...statement }) }
}

interface ServerMigrationParts {
  readonly connection: Queryable
  readonly schema: MigratedTables
  readonly changes: SchemaChanges
  readonly patience: MigrationLimits
}

class ServerMigration {
  readonly #connection: Queryable
  readonly #unlimited: Queryable
  /** The same connection, for queries that may be repeated while the database is busy. */
  readonly #asking: Queryable
  readonly #schema: MigratedTables
  readonly #changes: SchemaChanges
  readonly #patience: MigrationLimits

  constructor({ connection, schema, changes, patience }: ServerMigrationParts) {
    this.#connection = connection
    this.#unlimited = unlimited(connection)
    this.#asking = { all: (statement) => runAsync(this.#patiently(() => query(connection, statement))) }
    this.#schema = schema
    this.#changes = changes
    this.#patience = patience
  }

  *run(): SyncOrAsync<void> {
    const needed = yield* this.#schema.needsMigration(this.#asking)
    if (!needed) return

    yield* wait(whenFree(this.#patience.others, () => runAsync(this.#lock())))
    try {
      yield* this.#schema.migrate(this.#asking, (part) => this.#take(part))
    } finally {
      yield* execute(this.#connection, this.#changes.unlock(this.#schema.context))
    }
  }

  /** Polls: an index that is being created would wait for a session that waited inside the database. */
  *#lock(): SyncOrAsync<void> {
    const answer = yield* queryFirst(this.#connection, this.#changes.lock(this.#schema.context))
    if (answer?.lock !== 'taken') throw busy('call')
  }

  *#take(part: MigrationPart): SyncOrAsync<void> {
    const { context } = this.#schema
    if ('index' in part) {
      const making = { place: context, statement: part.index, wait: this.#patience.users }
      yield* this.#patiently(() => this.#changes.index(this.#unlimited, making))
      return
    }
    for (const unit of this.#changes.units(part.together)) {
      yield* this.#patiently(() => this.#changes.run(this.#unlimited, unit))
    }
  }

  #patiently<T>(attempt: () => SyncOrAsync<T>): SyncOrAsync<T> {
    return wait(whenFree(this.#patience.users, () => runAsync(attempt())))
  }
}

/** Makes an attempt, and repeats it while the database is busy, with pauses that let others proceed. */
function whenFree<T>(milliseconds: number, attempt: () => MaybePromise<T>): MaybePromise<T> {
  return retry(attempt, { ...limitedTo(milliseconds), maxPause: MAX_PAUSE_MS })
}

const MAX_PAUSE_MS = 500
