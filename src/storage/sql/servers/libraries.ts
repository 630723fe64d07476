import type { SqlValue } from '../query.ts'
import { columnOf } from './answers.ts'
import type { HostTransaction } from './host-transaction.ts'
import type { KyselyExecutor, KyselyTransaction } from './kysely-types.ts'

/** An open transaction of Drizzle on PostgreSQL or MariaDB, with the call that is made on it. */
export interface DrizzleTransaction<Query> {
  /** Runs a query. PostgreSQL answers with an object that has the rows, mysql2 with a list whose first element they are. */
  execute(query: Query): PromiseLike<unknown>
  /** Only a transaction has this. It is not called. */
  rollback(): unknown
}

/** The tag `sql` of `drizzle-orm`, which builds a query from the parts of a text and the values between them. */
export type DrizzleSql<Query> = (parts: TemplateStringsArray, ...values: SqlValue[]) => Query

/** An open transaction of Knex, with the calls that are made on it. */
export interface KnexTransaction {
  /** Runs a statement, whose places are `?` on every database. The answer is that of the driver. */
  raw(sql: string, values: SqlValue[]): PromiseLike<unknown>
  /** Returns whether it was committed or rolled back. */
  isCompleted(): boolean
}

/** The client of an interactive transaction of Prisma, with the call that is made on it. */
export interface PrismaTransaction {
  /** Runs a statement, and returns its rows. */
  $queryRawUnsafe(sql: string, ...values: SqlValue[]): PromiseLike<unknown>
}

/**
 * Wraps a `Transaction` of Kysely (0.27 to 0.29) for `withTransaction`. Its plugins do not see the statements.
 *
 * @param transaction - from `transaction().execute(…)` or `startTransaction()`
 */
export function fromKysely<T extends KyselyTransaction>(transaction: T): HostTransaction<T> {
  const run = runIn(transaction)
  return {
    identity: transaction,
    run: (sql, parameters) =>
      unlessEnded(
        () => run(sql, parameters),
        ({ message }) => /^Transaction is already (committed|rolled back)$/.test(message),
      ),
  }
}

/** Returns what runs a statement on a connection of Kysely: a compiled query without a tree, which no plugin sees. */
export function runIn(executor: KyselyExecutor): HostTransaction['run'] {
  const bare = executor.withoutPlugins()
  return async (sql, parameters) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const
    return (await bare.executeQuery({ sql, parameters, query, queryId: { queryId: 'forgelet' } })).rows
  }
}

/**
 * Wraps a transaction of Drizzle for `withTransaction`: of its drivers node-postgres and mysql2.
 *
 * @param transaction - what `database.transaction(…)` passes to its work
 * @param sql - the tag `sql` of `drizzle-orm`
 */
export function fromDrizzle<T extends DrizzleTransaction<Query>, Query>(
  transaction: T,
  sql: DrizzleSql<Query>,
): HostTransaction<T> {
  return {
    identity: transaction,
    async run(text, parameters) {
      const { parts, values } = split(text, parameters)
      return rowsIn(await transaction.execute(sql(Object.assign(parts, { raw: parts }), ...values)))
    },
  }
}

/**
 * Wraps a transaction of Knex for `withTransaction`: of its clients `pg` and `mysql2`.
 *
 * @param transaction - what `knex.transaction(…)` passes to its work, or returns
 */
export function fromKnex<T extends KnexTransaction>(transaction: T): HostTransaction<T> {
  return {
    identity: transaction,
    async run(text, parameters) {
      if (transaction.isCompleted()) throw hasEnded()
      const { parts, values } = split(text, parameters)
      return rowsIn(await transaction.raw(parts.join('?'), values))
    },
  }
}

/**
 * Wraps the client of an interactive transaction of Prisma (7) for `withTransaction`: of its adapters for pg and MariaDB.
 *
 * @param transaction - what `prisma.$transaction(…)` passes to its work
 */
export function fromPrisma<T extends PrismaTransaction>(transaction: T): HostTransaction<T> {
  return {
    identity: transaction,
    run: (sql, parameters) =>
      unlessEnded(
        async () => {
          const rows = await transaction.$queryRawUnsafe(sql, ...parameters)
          return Array.isArray(rows) ? rows : []
        },
        (error) => 'code' in error && error.code === 'P2028',
      ),
  }
}

async function unlessEnded<T>(run: () => Promise<T>, saysSo: (error: Error) => boolean): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof Error && saysSo(error) ? hasEnded(error) : error
  }
}

function hasEnded(cause?: Error): TypeError {
  return new TypeError(
    'the transaction has ended: it was committed, rolled back, or took longer than its library allows',
    {
      cause,
    },
  )
}

/** Splits a statement at its places. Our statements have neither `?` nor `$1` in a literal. */
function split(
  sql: string,
  parameters: readonly SqlValue[],
): { readonly parts: string[]; readonly values: SqlValue[] } {
  const places = [...sql.matchAll(/\$(\d+)|\?/g)]
  const values = places.map(
    ([, number], index) => parameters[number === undefined ? index : Number(number) - 1] ?? null,
  )
  return { parts: sql.split(/\$\d+|\?/), values }
}

/** Returns the rows in the answer of pg or of mysql2. */
function rowsIn(answer: unknown): readonly unknown[] {
  const rows: unknown = Array.isArray(answer) ? answer[0] : columnOf(answer, 'rows')
  return Array.isArray(rows) ? rows : []
}
