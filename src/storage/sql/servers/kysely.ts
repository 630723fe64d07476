import { needObject } from '../../../schema/arguments.ts'
import { closedError } from '../../../schema/errors.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import type { SqlDialect } from '../dialect.ts'
import { command } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import type { Statement } from '../query.ts'
import { runnerIn } from './host-runner.ts'
import type { HostTransaction } from './host-transaction.ts'
import type {
  BoundKysely,
  KyselyDatabase,
  KyselyExecutor,
  KyselyStorageOptions,
  KyselyTransaction,
} from './kysely-types.ts'
import { kyselyQuery } from './kysely-types.ts'
import { mariadbRules, refuseUnfitForTexts } from './mariadb-rules.ts'
import { hasMethods } from './pools.ts'
import { postgresRules } from './postgres-rules.ts'
import type { Rows, Runner, Server, ServerConnection, ServerRules } from './server.ts'
import type { ServerStorage } from './server-runtime.ts'
import { createServerStorage } from './server-runtime.ts'

/** The databases that may be beneath a Kysely. Its driver for MariaDB writes parameters into the text. */
const BENEATH: Readonly<Record<KyselyStorageOptions['dialect'], Beneath>> = {
  postgres: { dialect: postgresDialect, rules: postgresRules },
  mysql: {
    dialect: mysqlDialect,
    rules: {
      ...mariadbRules,
      async refuseUnfit(send, ids) {
        await mariadbRules.refuseUnfit(send, ids)
        await refuseUnfitForTexts(send)
      },
    },
  },
}

interface Beneath {
  readonly dialect: SqlDialect
  readonly rules: ServerRules
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

  const { dialect, rules } = BENEATH[name]
  return createServerStorage(kyselyServer(database, rules), createSqlContext(dialect, others))
}

function kyselyServer<Tx extends KyselyTransaction>(database: KyselyDatabase<Tx>, rules: ServerRules): Server<Tx> {
  return {
    ...rules,
    translate(error, retry) {
      if (!(error instanceof Error)) return rules.translate(error, retry)
      if (ENDED.test(error.message)) return new TypeError('the transaction has ended', { cause: error })
      return DESTROYED.test(error.message) ? closedError('the pool is closed', error) : rules.translate(error, retry)
    },
    async connect() {
      return new KyselyConnection<Tx>(await hold<BoundKysely<Tx>>((use) => database.connection().execute(use)), rules)
    },
    ofHost(transaction) {
      if (!isTransaction(transaction)) {
        throw new TypeError('the transaction must be an open Transaction of Kysely, not a Kysely')
      }
      return runnerOn(transaction, rules, 'host')
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
class KyselyConnection<Tx extends KyselyTransaction> implements ServerConnection<Tx> {
  readonly #bound: Held<BoundKysely<Tx>>
  readonly #rules: ServerRules
  #begun: Held<Tx> | undefined
  #wasLent = false

  constructor(bound: Held<BoundKysely<Tx>>, rules: ServerRules) {
    this.#bound = bound
    this.#rules = rules
  }

  get identity(): object {
    return this.#begun?.value ?? this.#bound.value
  }

  get transaction(): Tx {
    if (this.#begun === undefined) throw new TypeError('no transaction has begun')
    return this.#begun.value
  }

  async begin(): Promise<readonly Statement<unknown>[]> {
    const begun = this.#bound.value.transaction().setIsolationLevel('read committed')
    this.#begun = await hold<Tx>((use) => begun.execute(use))
    return this.#rules.setUp
  }

  run(statements: readonly Statement<unknown>[], refuse?: () => void): Promise<Rows> {
    return runnerOn(this.identity, this.#rules, 'own').run(statements, refuse)
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

function runnerOn(bound: object, { textOf }: ServerRules, whose: 'own' | 'host'): Runner {
  if (!isExecutor(bound)) throw new TypeError('the transaction must be an open Transaction of Kysely')
  const executor = bound.withoutPlugins()
  const run: HostTransaction['run'] = async (sql, parameters) =>
    (await executor.executeQuery(kyselyQuery(sql, parameters))).rows
  return runnerIn({ identity: bound, run }, textOf, whose)
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
