import { command } from '../dialect.ts'
import type { ConnectionFacts } from '../mysql/connection-facts.ts'
import { FACTS, refuseUnfit, VERSION, whyUnusable } from '../mysql/connection-facts.ts'
import {
  endsTransaction,
  saysAborted,
  saysLost,
  translateConnectError,
  translateError,
} from '../mysql/driver-errors.ts'
import { COMMIT } from '../mysql/mysql-connection.ts'
import { DURABILITY, warningsAbout } from '../mysql/server-warnings.ts'
import { withSettings, withSettingsUntil } from '../mysql/statement-settings.ts'
import { ROLL_BACK } from '../mysql/transactions.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import { busy, unavailable } from '../server/failures.ts'
import type { Queryable } from '../session.ts'
import type { ConnectionSettings, JoinedConnection, KyselyBackend } from './kysely-backend.ts'

/** The setting for connections on which statements begin transactions by themselves, and commit none. */
const ENDING: ConnectionSettings['ending'] = { commit: command(COMMIT) }

interface KyselyFacts extends ConnectionFacts {
  /** What a bare COMMIT, as Kysely sends it, does afterwards. */
  readonly completion: string
}

const KYSELY_FACTS: Statement<KyselyFacts> = {
  sql: `${FACTS.sql}, @@completion_type as completion`,
  parameters: [],
  returnsRows: true,
}

/** MariaDB through a Kysely, which writes parameters into the text of a statement. */
export class MysqlBackend implements KyselyBackend {
  readonly levels = { changes: 'read committed', snapshot: 'repeatable read' } as const
  readonly #needsUuid: boolean
  readonly #known = new WeakSet<object>()
  readonly #lost = new WeakSet<object>()
  #database: string | undefined

  /** @param needsUuid - whether ids are stored as `uuid`, which older servers do not support */
  constructor(needsUuid: boolean) {
    this.#needsUuid = needsUuid
  }

  translate(error: unknown, retry: Retry): unknown {
    return translateError(error, retry)
  }

  translateConnect(error: unknown): unknown {
    return translateConnectError(error)
  }

  translateCommit(error: unknown): unknown {
    if (saysAborted(error)) return translateError(error, 'call')
    return unavailable('the server was lost while committing: the change may be done', error, 'unknown')
  }

  /** An error of the host's code may refer to another connection: only the ROLLBACK shows whether ours is lost. */
  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown {
    return saysAborted(error) || (rollBack === 'failed' && saysLost(error)) ? translateError(error, 'call') : error
  }

  prepares(deadline: Deadline | undefined): (statement: Statement<unknown>) => string {
    return deadline === undefined ? withSettings : withSettingsUntil(deadline)
  }

  async look(connection: Queryable, key: object | undefined): Promise<ConnectionSettings> {
    if (key === undefined || !this.#known.has(key)) await this.#refuseOtherServers(connection)
    if (key !== undefined) this.#known.add(key)

    const facts = await factsOf(connection)
    refuseChains(facts)
    this.#refuseElsewhere(refuseUnspeakable(facts))
    const leftOpen = facts.open === 'yes'
    if (leftOpen) await connection.all(command(ROLL_BACK))
    return { leftOpen, ending: facts.autocommit === 'yes' ? undefined : ENDING }
  }

  /** Kysely has set the level, and the limits come with each statement. */
  async begin(connection: Queryable): Promise<Queryable> {
    return connection
  }

  async refuseUnlessOpen({ connection, transaction }: JoinedConnection): Promise<void> {
    if (this.#lost.has(transaction)) throw busy('host-transaction')

    const facts = await factsOf(connection)
    const database = refuseUnspeakable(facts)
    if (this.#database !== undefined && this.#database !== database) {
      throw new TypeError('the transaction is on another database than the storage')
    }
    if (facts.open === 'no')
      throw new TypeError('the transaction is not open: it has ended, or a deadlock has ended it')
  }

  /** A deadlock ends the whole transaction, and on some connections the next statement silently begins another. */
  failed(transaction: object, error: unknown): void {
    if (endsTransaction(error)) this.#lost.add(transaction)
  }

  async warnings(connection: Queryable): Promise<readonly string[]> {
    return (await connection.all(DURABILITY)).flatMap(warningsAbout)
  }

  #refuseElsewhere(database: string): void {
    this.#database ??= database
    if (this.#database === database) return
    throw new TypeError('a connection of Kysely is on another database than the storage: the host has changed it')
  }

  async #refuseOtherServers(connection: Queryable): Promise<void> {
    const [row] = await connection.all(VERSION)
    const reason = whyUnusable(String(row?.version), this.#needsUuid)
    if (reason !== undefined) throw unavailable(reason)
  }
}

/** Checks `completion_type`. @throws TypeError if a bare COMMIT begins another transaction, or ends the connection */
function refuseChains({ completion }: KyselyFacts): void {
  if (completion === 'NO_CHAIN') return
  throw new TypeError(`the connection has completion_type = ${completion}: set it to NO_CHAIN`)
}

async function factsOf(connection: Queryable): Promise<KyselyFacts> {
  const [facts] = await connection.all(KYSELY_FACTS)
  if (facts === undefined) throw unavailable('the server does not answer with its settings')
  return facts
}

/**
 * Returns the database of a connection. @throws TypeError if our texts would not be stored unchanged on it, or could
 * end a statement
 */
function refuseUnspeakable(facts: ConnectionFacts): string {
  if (facts.modes.split(',').includes('NO_BACKSLASH_ESCAPES')) {
    throw new TypeError('the driver escapes quotes with a backslash: take NO_BACKSLASH_ESCAPES out of the sql_mode')
  }
  return refuseUnfit(facts)
}
