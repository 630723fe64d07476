import { isForgeError } from '../../../schema/errors.ts'
import type { Place } from '../dialect.ts'
import { command } from '../dialect.ts'
import type { DatabaseIdentity } from '../postgres/database-identity.ts'
import { identityQuery, isSame, refuseElsewhere } from '../postgres/database-identity.ts'
import {
  translateCommitError,
  translateConnectError,
  translateError,
  translateHostError,
} from '../postgres/driver-errors.ts'
import { isInsideTransaction, ROLL_BACK } from '../postgres/left-open.ts'
import type { Limits } from '../postgres/server-limits.ts'
import { ServerLimits } from '../postgres/server-limits.ts'
import { DURABILITY, warningsAbout } from '../postgres/server-warnings.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import { unavailable } from '../server/failures.ts'
import type { Queryable } from '../session.ts'
import type { ConnectionSettings, JoinedConnection, KyselyBackend } from './kysely-backend.ts'

// Outside a transaction savepoints do not exist, and in a failed transaction only its end can run.
const SAVEPOINT = command('savepoint forgelet')
const RELEASE = command('release savepoint forgelet')

/** PostgreSQL through a Kysely: its own pg, PGlite, or any driver that throws the errors of the server. */
export class PostgresBackend implements KyselyBackend {
  readonly levels = { changes: 'read committed', snapshot: 'repeatable read' } as const
  readonly #homeQuery: Statement<DatabaseIdentity>
  #home: DatabaseIdentity | undefined

  constructor(place: Place) {
    this.#homeQuery = identityQuery(place)
  }

  translate(error: unknown, retry: Retry): unknown {
    return translateError(error, retry)
  }

  translateConnect(error: unknown): unknown {
    return translateConnectError(error)
  }

  translateCommit(error: unknown): unknown {
    return translateCommitError(error)
  }

  /** If even the ROLLBACK fails, the server is unreachable. */
  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown {
    if (rollBack === 'done' || isForgeError(error) || error instanceof TypeError) return translateHostError(error)
    return unavailable('the connection to the PostgreSQL server was lost', error)
  }

  /** Also records what the storage's own connections reach, once the tables exist. */
  async look(connection: Queryable): Promise<ConnectionSettings> {
    const leftOpen = await isInsideTransaction(connection)
    if (leftOpen) await connection.all(ROLL_BACK)
    if (this.#home === undefined) await this.#learnHome(connection)
    return { leftOpen }
  }

  async begin(connection: Queryable, deadline: Deadline): Promise<Queryable> {
    const limits = new ServerLimits(connection, deadline)
    await connection.all(settings(limits.first()))
    return limits
  }

  async refuseUnlessOpen({ connection, beside }: JoinedConnection): Promise<void> {
    await connection.all(SAVEPOINT)
    await connection.all(RELEASE)
    if (this.#home === undefined) return

    const [theirs] = await connection.all(this.#homeQuery)
    if (!isSame(this.#home, theirs)) await beside((own) => this.#learnHome(own)) // our tables may have been recreated
    refuseElsewhere(this.#home, theirs)
  }

  async warnings(connection: Queryable): Promise<readonly string[]> {
    return warningsAbout(await connection.all(DURABILITY))
  }

  async #learnHome(own: Queryable): Promise<void> {
    const [home] = await own.all(this.#homeQuery)
    if (home !== undefined && home.ledger !== null) this.#home = home
  }
}

/** Applies to this transaction alone. A `synchronous_commit` that also waits for standby servers is left unchanged. */
function settings({ lock, statement }: Limits): Statement<unknown> {
  return {
    sql:
      "select pg_catalog.set_config('lock_timeout', cast($1 as text), true), " +
      "pg_catalog.set_config('statement_timeout', cast($2 as text), true), " +
      "case when pg_catalog.current_setting('synchronous_commit') in ('off', 'local') " +
      "then pg_catalog.set_config('synchronous_commit', 'on', true) end",
    parameters: [String(lock), String(statement)],
    returnsRows: false,
  }
}
