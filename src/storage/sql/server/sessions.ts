import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import type { SqlDialect } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Queryable, Session } from '../session.ts'

/** Creates a session that reads. It never runs the host's code in the middle of its work. */
export function readingSession(connection: Queryable): Session {
  return { all: (statement) => connection.all(statement), lend: (work) => work() }
}

/** How the session of a change differs from its connection. */
export interface Writing {
  /** The end of a select that runs after a lock. */
  readonly lockingRead: SqlDialect['lockingRead']
  /** Runs the host's code in the middle of the change. */
  readonly lend: <T>(work: () => MaybePromise<T>) => Promise<T>
}

/** Creates a session that writes. It reads what is committed now, even if the transaction began to read before. */
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
