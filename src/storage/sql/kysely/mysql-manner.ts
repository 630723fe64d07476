import { command } from '../dialect.ts'
import type { ConnectionFacts } from '../mysql/connection-facts.ts'
import { FACTS, refuseUnfit, VERSION, whyUnusable } from '../mysql/connection-facts.ts'
import { endsTransaction, saysAborted, saysLost, translateError } from '../mysql/driver-errors.ts'
import { COMMIT } from '../mysql/mysql-connection.ts'
import { DURABILITY, warningsAbout } from '../mysql/server-warnings.ts'
import { withSettings, withSettingsUntil } from '../mysql/statement-settings.ts'
import { ROLL_BACK } from '../mysql/transactions.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import { busy, unavailable } from '../server/failures.ts'
import type { Asking } from '../session.ts'
import type { Habits, JoinedConnection, Manner } from './manner.ts'

/** Where statements begin transactions by themselves, and commit none. */
const NO_AUTOCOMMIT: Habits = { ending: { commit: command(COMMIT), rollBack: command(ROLL_BACK) } }

const COMPLETION: Statement<{ readonly completion: string }> = {
  sql: 'select @@completion_type as completion',
  parameters: [],
  returnsRows: true,
}

/** MariaDB through a Kysely, which writes parameters into the text of a statement. */
export class MysqlManner implements Manner {
  readonly levels = { changes: 'read committed', snapshot: 'repeatable read' } as const
  readonly #needsUuid: boolean
  readonly #known = new WeakMap<object, Habits>()
  readonly #lost = new WeakSet<object>()
  #database: string | undefined

  /** @param needsUuid - whether ids are kept as `uuid`, which older servers do not know */
  constructor(needsUuid: boolean) {
    this.#needsUuid = needsUuid
  }

  translate(error: unknown, retry: Retry): unknown {
    return translateError(error, retry)
  }

  translateCommit(error: unknown): unknown {
    if (saysAborted(error)) return translateError(error, 'call')
    return unavailable('the server was lost while committing: the change may be done', error, 'unknown')
  }

  /** An error of the host's may speak of another connection: that ours is lost is told by its ROLLBACK. */
  translateWork(error: unknown, rollBack: 'done' | 'failed'): unknown {
    return saysAborted(error) || (rollBack === 'failed' && saysLost(error)) ? translateError(error, 'call') : error
  }

  prepares(deadline: Deadline | undefined): (statement: Statement<unknown>) => string {
    return deadline === undefined ? withSettings : withSettingsUntil(deadline)
  }

  async look(connection: Asking, key: object | undefined): Promise<Habits> {
    const known = key && this.#known.get(key)
    if (known !== undefined) return known

    await this.#refuseOtherServers(connection)
    await refuseChains(connection)
    const facts = await factsOf(connection)
    this.#database = refuseUnspeakable(facts)
    const habits = facts.autocommit === 'yes' ? {} : NO_AUTOCOMMIT
    if (key !== undefined) this.#known.set(key, habits)
    return habits
  }

  /** The level was set by Kysely, and the limits come with each statement. */
  async begin(connection: Asking): Promise<Asking> {
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

  async warnings(connection: Asking): Promise<readonly string[]> {
    return (await connection.all(DURABILITY)).flatMap(warningsAbout)
  }

  async #refuseOtherServers(connection: Asking): Promise<void> {
    const [row] = await connection.all(VERSION)
    const reason = whyUnusable(String(row?.version), this.#needsUuid)
    if (reason !== undefined) throw unavailable(reason)
  }
}

/** Kysely ends transactions with a bare COMMIT. @throws TypeError where that begins another, or ends the connection */
async function refuseChains(connection: Asking): Promise<void> {
  const [row] = await connection.all(COMPLETION)
  if (row?.completion === 'NO_CHAIN') return
  throw new TypeError(`the connection has completion_type = ${row?.completion}: set it to NO_CHAIN`)
}

async function factsOf(connection: Asking): Promise<ConnectionFacts> {
  const [facts] = await connection.all(FACTS)
  if (facts === undefined) throw unavailable('the server does not tell what it is')
  return facts
}

/** The database of a connection. @throws TypeError for one on which our texts would not be kept, or could end a statement */
function refuseUnspeakable(facts: ConnectionFacts): string {
  if (facts.modes.split(',').includes('NO_BACKSLASH_ESCAPES')) {
    throw new TypeError('the driver escapes quotes with a backslash: take NO_BACKSLASH_ESCAPES out of the sql_mode')
  }
  return refuseUnfit(facts)
}
