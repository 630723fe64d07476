import { needObject } from '../../../schema/arguments.ts'
import { closedError } from '../../../schema/errors.ts'
import type { SchemaStorageOptions } from '../context.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import type { SqlDialect } from '../dialect.ts'
import { command } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import type { IdCodec } from '../ids.ts'
import type { SqlValue, Statement } from '../query.ts'
import { runnerIn } from './host-runner.ts'
import type { HostTransaction } from './host-transaction.ts'
import { isHostTransaction } from './host-transaction.ts'
import { limited, mariadbRules, unlimited } from './mariadb-rules.ts'
import { hasMethods } from './pools.ts'
import { postgresRules, SET_UP } from './postgres-rules.ts'
import type { Purpose, Rows, Runner, Server, ServerConnection, ServerRules } from './server.ts'
import type { ServerStorage } from './server-runtime.ts'
import { createServerStorage } from './server-runtime.ts'

/** A compiled query, as every version of Kysely accepts it: a text with its parameters, without a query tree. */
export interface KyselyQuery {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  readonly query: {
    readonly kind: 'RawNode'
    readonly sqlFragments: readonly string[]
    readonly parameters: readonly never[]
  }
  readonly queryId: { readonly queryId: string }
}

/** Runs compiled queries: a `Kysely`, a `Kysely` bound to one connection, or a `Transaction`. */
export interface KyselyExecutor {
  /** Runs a compiled query, and returns its rows as the driver does. */
  executeQuery(query: KyselyQuery): Promise<{ readonly rows: readonly unknown[] }>
  /** Returns the same without the plugins, which would rename our columns and parse our texts. */
  withoutPlugins(): KyselyExecutor
}

/** An open `Transaction` of Kysely, of any version and any tables, with the calls that are made on it. */
export interface KyselyTransaction extends KyselyExecutor {
  readonly isTransaction: true
}

/** Begins a transaction. */
export interface KyselyTransactionBuilder<Tx> {
  /** Returns the same with an isolation level. */
  setIsolationLevel(level: 'read committed' | 'repeatable read'): KyselyTransactionBuilder<Tx>
  /** Runs work in a transaction, and commits it; rolls back if the work rejects. */
  execute<T>(work: (transaction: Tx) => Promise<T>): Promise<T>
}

/** Provides one connection. */
export interface KyselyConnectionBuilder<Tx> {
  /** Runs work on one connection, and releases it. */
  execute<T>(work: (connection: BoundKysely<Tx>) => Promise<T>): Promise<T>
}

/**
 * A `Kysely` of the host, of any version and any tables, with the calls that are made on it. `Tx` is its `Transaction`.
 */
export interface KyselyDatabase<Tx> {
  /** Prepares a transaction. */
  transaction(): KyselyTransactionBuilder<Tx>
  /** Prepares the use of one connection. */
  connection(): KyselyConnectionBuilder<Tx>
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

/** What differs between the databases beneath Kysely. */
interface Beneath {
  readonly dialect: SqlDialect
  readonly rules: (ids: IdCodec) => ServerRules
  readonly textOf: (statement: Statement<unknown>) => string
  /** What follows the BEGIN of Kysely in a transaction for changes. */
  readonly setUp: readonly Statement<unknown>[]
}

const BENEATH: Readonly<Record<KyselyStorageOptions['dialect'], Beneath>> = {
  postgres: { dialect: postgresDialect, rules: () => postgresRules, textOf: ({ sql }) => sql, setUp: [SET_UP] },
  mysql: {
    dialect: mysqlDialect,
    rules: (ids) => mariadbRules(ids, 'Kysely'),
    textOf: limited,
    setUp: [],
  },
}

/** Creates a storage on a Kysely of the host. @throws TypeError if the Kysely or an option is invalid */
export function openKysely<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  options: KyselyStorageOptions,
): ServerStorage<Tx> {
  if (!hasMethods(database, 'transaction', 'connection') || isTransaction(database)) {
    throw new TypeError('kyselyStorage needs a Kysely that is not a transaction')
  }
  needObject(options, 'options', "{ dialect: 'postgres' }")
  checkStorageOptions('kyselyStorage', options, { dialect: true, ...SCHEMA_OPTIONS })
  const { dialect: name, ...others } = options
  if (!Object.hasOwn(BENEATH, name)) {
    throw new TypeError("dialect must be 'postgres' or 'mysql'; for SQLite, pass the handle to sqliteStorage")
  }
  if (others.schema !== undefined && name !== 'postgres') throw new TypeError('only PostgreSQL has schemas')

  const beneath = BENEATH[name]
  const context = createSqlContext(beneath.dialect, others)
  return createServerStorage(kyselyServer(database, beneath, context.ids), context)
}

function kyselyServer<Tx extends KyselyTransaction>(
  database: KyselyDatabase<Tx>,
  beneath: Beneath,
  ids: IdCodec,
): Server<Tx> {
  const { rules, textOf } = beneath
  const textInHosts = textOf === limited ? unlimited : textOf
  const below = rules(ids)
  return {
    ...below,
    translate(error, retry) {
      if (!(error instanceof Error)) return below.translate(error, retry)
      if (ENDED.test(error.message)) return new TypeError('the transaction has ended', { cause: error })
      return DESTROYED.test(error.message) ? closedError('the pool is closed', error) : below.translate(error, retry)
    },
    async connect() {
      return new Connection<Tx>(await hold<BoundKysely<Tx>>((use) => database.connection().execute(use)), beneath)
    },
    ofHost(transaction) {
      if (isHostTransaction(transaction)) return runnerIn(transaction, textInHosts)
      if (!isTransaction(transaction)) {
        throw new TypeError('the transaction must be an open Transaction of Kysely, not a Kysely')
      }
      return runnerOn(transaction, textInHosts)
    },
    async close() {
      // The Kysely is the host's, and stays open.
    },
  }
}

/** The message of Kysely for a transaction that is used after its end. Versions before 0.28 have none. */
const ENDED = /^Transaction is already (committed|rolled back)$/

/** The message of Kysely after it was destroyed. */
const DESTROYED = /^driver has already been destroyed$/

/** A connection that Kysely lends until it is released. Kysely itself begins and ends the transactions on it. */
class Connection<Tx extends KyselyTransaction> implements ServerConnection<Tx> {
  readonly #bound: Held<BoundKysely<Tx>>
  readonly #beneath: Beneath
  #begun: Held<Tx> | undefined
  #wasLent = false

  constructor(bound: Held<BoundKysely<Tx>>, beneath: Beneath) {
    this.#bound = bound
    this.#beneath = beneath
  }

  get identity(): object {
    return this.#begun?.value ?? this.#bound.value
  }

  get transaction(): Tx {
    if (this.#begun === undefined) throw new TypeError('no transaction has begun')
    return this.#begun.value
  }

  async begin(purpose: Purpose): Promise<readonly Statement<unknown>[]> {
    const level = purpose === 'changes' ? 'read committed' : 'repeatable read'
    this.#begun = await hold<Tx>((use) => this.#bound.value.transaction().setIsolationLevel(level).execute(use))
    return purpose === 'changes' ? this.#beneath.setUp : []
  }

  run(statements: readonly Statement<unknown>[], refuse?: () => void): Promise<Rows> {
    return runnerOn(this.identity, this.#beneath.textOf).run(statements, refuse)
  }

  /** Kysely does not report that a server has answered the COMMIT of a failed transaction with ROLLBACK. */
  async commit(): Promise<boolean> {
    if (this.#wasLent && !(await this.#isSound())) {
      await this.rollBack()
      return false
    }
    await this.#begun?.end()
    return true
  }

  #isSound(): Promise<boolean> {
    return this.run([ANYTHING]).then(
      () => true,
      () => false,
    )
  }

  /** Kysely rethrows the error that made it roll back, unless the ROLLBACK fails. */
  async rollBack(): Promise<void> {
    const reason = new Error('rolled back')
    await this.#begun?.fail(reason).catch((error) => {
      if (error !== reason) throw error
    })
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    this.#wasLent = true
    return work()
  }

  /** Kysely hides what could be destroyed: a connection whose server is silent is used until it answers. */
  release(): void {
    const ended = new Error('the call has ended')
    this.#begun?.fail(ended).catch(() => undefined)
    this.#bound.end().catch(() => undefined)
  }
}

/** A statement that fails in a failed transaction. */
const ANYTHING = command('select 1')

function runnerOn(bound: object, textOf: Beneath['textOf']): Runner {
  if (!isExecutor(bound)) throw new TypeError('the transaction must be an open Transaction of Kysely')
  const executor = bound.withoutPlugins()
  const run: HostTransaction['run'] = async (sql, parameters) =>
    (await executor.executeQuery(compiled(sql, parameters))).rows
  return runnerIn({ identity: bound, run }, textOf)
}

function compiled(sql: string, parameters: KyselyQuery['parameters']): KyselyQuery {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const
  return { sql, parameters, query, queryId: { queryId: 'forgelet' } }
}

function isExecutor(value: unknown): value is KyselyExecutor {
  return hasMethods(value, 'executeQuery', 'withoutPlugins')
}

function isTransaction(value: object): value is KyselyTransaction {
  return isExecutor(value) && 'isTransaction' in value && value.isTransaction === true
}

/** A value that is lent to a callback, until the callback returns. */
interface Held<T> {
  readonly value: T
  /** Returns from the callback. Resolves when its lender has finished. */
  end(): Promise<void>
  /** Throws from the callback. Rejects with the error of its lender. */
  fail(error: Error): Promise<void>
}

/** Holds what is lent to a callback. @throws what the lender throws before it calls the callback */
function hold<T>(lend: (use: (value: T) => Promise<void>) => Promise<void>): Promise<Held<T>> {
  return new Promise((resolve, reject) => {
    const finished = lend(
      (value) =>
        new Promise<void>((end, fail) => {
          resolve({
            value,
            end() {
              end()
              return finished
            },
            fail(error) {
              fail(error)
              return finished
            },
          })
        }),
    )
    finished.catch(reject)
  })
}
