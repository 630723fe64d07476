import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { SqlDialect } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Queryable, Session } from '../session.ts'

/** A session that reads: it never has the host's code run in its middle. */
export function readingSession(connection: Queryable): Session {
  return { all: (statement) => connection.all(statement), lend: (work) => work() }
}

/** How the session of a change differs from the connection it is on. */
export interface Writing {
  /** What a select ends with behind a lock. */
  readonly lockingRead: SqlDialect['lockingRead']
  /** Runs the host's code in the middle of the change. */
  readonly lend: <T>(work: () => MaybePromise<T>) => Promise<T>
}

/** A session that writes: what it reads, it reads as it is committed now, also where the transaction began to read before. */
export function writingSession(connection: Queryable, { lockingRead, lend }: Writing): Session {
  return {
    all: (statement) => connection.all(lockingRead === '' ? statement : locking(statement, lockingRead)),
    lend,
  }
}

function locking<Row>(statement: Statement<Row>, lockingRead: string): Statement<Row> {
  const { sql, asWritten } = statement
  return asWritten !== true && /^select\b/.test(sql) ? { ...statement, sql: `${sql}${lockingRead}` } : statement
}
