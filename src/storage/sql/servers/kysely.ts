import { needObject } from '../../../schema/arguments.ts'
import { closedError } from '../../../schema/errors.ts'
import { checkStorageOptions, createSqlContext, SCHEMA_OPTIONS } from '../context.ts'
import type { SqlDialect } from '../dialect.ts'
import { command } from '../dialect.ts'
import { mysqlDialect } from '../dialects/mariadb.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import type { Statement } from '../query.ts'
import { succeeds } from './connections.ts'
import { runnerIn } from './host-transaction.ts'
import type {
  BoundKysely,
  KyselyDatabase,
  KyselyExecutor,
  KyselyStorageOptions,
  KyselyTransaction,
} from './kysely-types.ts'
import { fromKysely, runIn } from './libraries.ts'
import { mariadbRulesForTexts } from './mariadb-rules.ts'
import { hasMethods } from './pools.ts'
import { postgresRules } from './postgres-rules.ts'
import type { Rows, Runner, Server, ServerConnection, ServerRules } from './server.ts'
import type { ServerStorage } from './server-runtime.ts'
import { createServerStorage } from './server-runtime.ts'

/** The databases that may be beneath a Kysely. Its driver for MariaDB writes parameters into the text. */
const BENEATH: Readonly<Record<KyselyStorageOptions['dialect'], readonly [SqlDialect, ServerRules]>> = {
  postgres: [postgresDialect, postgresRules],
  mysql: [mysqlDialect, mariadbRulesForTexts],
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

  const [dialect, rules] = BENEATH[name]
  return createServerStorage(kyselyServer(database, rules), createSqlContext(dialect, others))
}

function kyselyServer<Tx extends KyselyTransaction>(database: KyselyDatabase<Tx>, rules: ServerRules): Server<Tx> {
  return {
    ...rules,
    translate(error, retry) {
      const isDestroyed = error instanceof Error && error.message === DESTROYED
      return isDestroyed ? closedError('the pool is closed', error) : rules.translate(error, retry)
    },
    async connect() {
      return new KyselyConnection<Tx>(await hold<BoundKysely<Tx>>((use) => database.connection().execute(use)), rules)
    },
    ofHost(transaction) {
      if (isTransaction(transaction)) return runnerIn(fromKysely(transaction), rules.textOf)
      throw new TypeError('the transaction must be an open Transaction of Kysely, not a Kysely')
    },
    async close() {
      // The Kysely is the host's, and stays open.
    },
  }
}

/** The message of Kysely after it was destroyed. */
const DESTROYED = 'driver has already been destroyed'

/** A connection that Kysely lends until it is released. Kysely itself begins and ends the transactions on it. */
class KyselyConnection<Tx extends KyselyTransaction> implements ServerConnection<Tx> {
  readonly #bound: Held<BoundKysely<Tx>>
  readonly #rules: ServerRules
  #runner: Runner
  #begun: Held<Tx> | undefined
  #wasLent = false

  constructor(bound: Held<BoundKysely<Tx>>, rules: ServerRules) {
    this.#bound = bound
    this.#rules = rules
    this.#runner = this.#runnerOn(bound.value)
  }

  get identity(): object {
    return this.#begun?.value ?? this.#bound.value
  }

  get transaction(): Tx {
    if (this.#begun === undefined) throw new TypeError('no transaction has begun')
    return this.#begun.value
  }

  async begin(): Promise<readonly Statement<unknown>[]> {
    const builder = this.#bound.value.transaction().setIsolationLevel('read committed')
    try {
      this.#begun = await hold<Tx>((use) => builder.execute(use))
    } catch (error) {
      throw this.#rules.translate(error, 'call')
    }
    this.#runner = this.#runnerOn(this.#begun.value) // until it ends, what it began on is busy
    return this.#rules.setUp
  }

  #runnerOn(executor: KyselyExecutor): Runner {
    return runnerIn({ identity: executor, run: runIn(executor) }, this.#rules.textOf, 'own')
  }

  run(statements: readonly Statement<unknown>[], refuse?: () => void): Promise<Rows> {
    return this.#runner.run(statements, refuse)
  }

  /** Kysely does not report that a server has answered the COMMIT of a failed transaction with ROLLBACK. */
  async commit(): Promise<boolean> {
    if (this.#wasLent && !(await succeeds(this.run([ANYTHING])))) {
      await this.rollBack()
      return false
    }
    await this.#begun?.end()
    return true
  }

  /** Kysely rethrows the error that made it roll back, unless the ROLLBACK fails. */
  async rollBack(): Promise<void> {
    const reason = new Error('rolled back')
    await this.#begun?.end(reason).catch((error) => {
      if (error !== reason) throw error
    })
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    this.#wasLent = true
    return work()
  }

  /** Kysely hides what could be destroyed: a connection whose server is silent is used until it answers. */
  release(): void {
    this.#begun?.end(new Error('the call has ended')).catch(() => undefined)
    this.#bound.end().catch(() => undefined)
  }
}

/** A statement that fails in a failed transaction. */
const ANYTHING = command('select 1')

function isTransaction(value: object): value is KyselyTransaction {
  return hasMethods(value, 'executeQuery', 'withoutPlugins') && Reflect.get(value, 'isTransaction') === true
}

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
