import { hasMethods, needObject } from '../../../schema/arguments.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import type { SqlDialect } from '../dialect.ts'
import { command } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import type { Statement } from '../query.ts'
import type { HostedStorage } from '../stores/stores.ts'
import { translate } from './answers.ts'
import { succeeds } from './connections.ts'
import type { KyselyExecutor, KyselyTransaction } from './host-transaction.ts'
import { fromKysely, isKysely, runIn, runnerIn } from './host-transaction.ts'
import type { Isolation } from './in-transaction.ts'
import { mariadbLibraryRules } from './mariadb-rules.ts'
import { postgresRules } from './postgres-rules.ts'
import type { Server, ServerConnection, ServerRules } from './server.ts'
import { createServerStorage } from './server-runtime.ts'

/** Begins a transaction. */
export interface KyselyTransactionBuilder<Tx> {
  /** Returns the same with an isolation level. */
  setIsolationLevel(level: Isolation): KyselyTransactionBuilder<Tx>
  /** Runs work in a transaction, and commits it; rolls back if the work rejects. */
  execute<T>(work: (transaction: Tx) => Promise<T>): Promise<T>
}

/**
 * A `Kysely` of the host, of any version and any tables, with the calls that are made on it. `Tx` is its `Transaction`.
 */
export interface KyselyDatabase<Tx> {
  /** Prepares a transaction. */
  transaction(): KyselyTransactionBuilder<Tx>
  /** Prepares the use of one connection. */
  connection(): {
    /** Runs work on the connection, and releases it. */
    execute<T>(work: (connection: BoundKysely<Tx>) => Promise<T>): Promise<T>
  }
}

/** A Kysely that is bound to one connection. */
export interface BoundKysely<Tx> extends KyselyExecutor {
  /** Prepares a transaction on this connection. */
  transaction(): KyselyTransactionBuilder<Tx>
}

/** The options of a storage over Kysely. */
export interface KyselyStorageOptions extends SchemaStorageOptions {
  /** The database beneath: PostgreSQL, or MariaDB. A `schema` is for PostgreSQL alone. */
  readonly dialect: 'postgres' | 'mysql'
}

/** The databases that may be beneath a Kysely. */
const BENEATH: Readonly<Record<KyselyStorageOptions['dialect'], readonly [SqlDialect, ServerRules]>> = {
  postgres: [postgresDialect, postgresRules],
  mysql: [mysqlDialect, mariadbLibraryRules],
}

/** Creates a storage on a Kysely of the host. @throws TypeError if the Kysely or an option is invalid */
export function openKysely<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions,
): HostedStorage<Tx> {
  if (!hasMethods(database, 'transaction', 'connection') || isKysely(database)) {
    throw new TypeError('kyselyStorage needs a Kysely that is not a transaction')
  }
  needObject(options, 'options', "{ dialect: 'postgres' }")
  checkStorageOptions('kyselyStorage', options, { dialect: true, ...SCHEMA_OPTIONS })
  const { dialect: name, ...others } = options
  if (!Object.hasOwn(BENEATH, name)) {
    throw new TypeError("dialect must be 'postgres' or 'mysql'; for SQLite, pass the handle to sqliteStorage")
  }
  if (others.schema !== undefined && name !== 'postgres') throw new TypeError('only PostgreSQL has schemas')

  const [dialect, rules] = BENEATH[name]
  return createServerStorage(kyselyServer(database, rules), createSqlContext(dialect, others))
}

function kyselyServer<Tx extends KyselyTransaction>(database: KyselyDatabase<Tx>, rules: ServerRules): Server<Tx> {
  return {
    ...rules,
    first: [],
    async connect() {
      const bound = await hold<BoundKysely<Tx>>((use) => database.connection().execute(use))
      return new KyselyConnection<Tx>(bound, rules.setUp)
    },
    ofHost(transaction) {
      if (isKysely(transaction)) return runnerIn(fromKysely(transaction))
      throw new TypeError('the transaction must be an open Transaction of Kysely, not a Kysely')
    },
    async close() {
      // The Kysely is the host's, and stays open.
    },
  }
}

/** A connection that Kysely lends until it is released. Kysely itself begins and ends the transactions on it. */
class KyselyConnection<Tx extends KyselyTransaction> implements ServerConnection<Tx> {
  readonly #bound: Held<BoundKysely<Tx>>
  readonly #setUp: readonly Statement<unknown>[]
  #begun: Held<Tx> | undefined

  constructor(bound: Held<BoundKysely<Tx>>, setUp: readonly Statement<unknown>[]) {
    this.#bound = bound
    this.#setUp = setUp
  }

  /** Until a transaction ends, what it began on is busy. */
  get identity(): KyselyExecutor {
    return this.#begun?.value ?? this.#bound.value
  }

  get transaction(): Tx {
    if (this.#begun === undefined) throw new TypeError('no transaction has begun')
    return this.#begun.value
  }

  async begin(): Promise<readonly Statement<unknown>[]> {
    const builder = this.#bound.value.transaction().setIsolationLevel('read committed')
    this.#begun = await hold<Tx>((use) => builder.execute(use)).catch((error) => {
      throw translate(error, 'call')
    })
    return this.#setUp
  }

  run(statement: Statement<unknown>): Promise<unknown> {
    return runnerIn({ identity: this.identity, run: runIn(this.identity) }).run(statement)
  }

  /** Kysely does not report that a server has answered the COMMIT of a failed transaction with ROLLBACK. */
  async commit(): Promise<boolean> {
    const isSound = await succeeds(this.run(ANYTHING))
    await (isSound ? this.#begun?.end() : this.rollBack())
    return isSound
  }

  /** Kysely rethrows the error that made it roll back, unless the ROLLBACK fails. */
  async rollBack(): Promise<void> {
    const reason = new Error('rolled back')
    await this.#begun?.end(reason).catch((error) => {
      if (error !== reason) throw error
    })
  }

  /** Kysely hides what could be destroyed: a connection whose server is silent is used until it answers. */
  release(): void {
    this.#begun?.end(new Error('the call has ended')).catch(() => undefined)
    this.#bound.end().catch(() => undefined)
  }
}

/** A statement that fails in a failed transaction. */
const ANYTHING = command('select 1')

/** A value that is lent to a callback, until the callback returns. */
interface Held<T> {
  readonly value: T
  /** Returns from the callback, or throws the error. Resolves when its lender has finished, or rejects with its error. */
  end(error?: Error): Promise<void>
}

/** Holds what is lent to a callback. @throws what the lender throws before it calls the callback */
function hold<T>(lend: (use: (value: T) => Promise<void>) => Promise<void>): Promise<Held<T>> {
  return new Promise((resolve, reject) => {
    const use = (value: T): Promise<void> =>
      new Promise((succeed, fail) => {
        const end = (error?: Error): Promise<void> => {
          if (error === undefined) succeed()
          else fail(error)
          return finished
        }
        resolve({ value, end })
      })
    const finished = lend(use)
    finished.catch(reject)
  })
}
