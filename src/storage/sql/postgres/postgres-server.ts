import type { Place } from '../dialect.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import { HostWarnings, LEFT_OPEN } from '../server/host-warnings.ts'
import type { Server, ServerConnection } from '../server/server.ts'
import { onClient } from './checkout.ts'
import type { DatabaseIdentity } from './database-identity.ts'
import { identityQuery, isSame, refuseElsewhere } from './database-identity.ts'
import { isInsideTransaction, knownStatus, ROLL_BACK } from './left-open.ts'
import type { PgClient, PgPool } from './pg-pool.ts'
import { isPgClient } from './pg-pool.ts'
import { PoolSource } from './pool-source.ts'
import { PostgresConnection } from './postgres-connection.ts'
import { DURABILITY, warningsAbout } from './server-warnings.ts'
import { StatementNames } from './statement-names.ts'
import type { Beginning } from './transactions.ts'
import { BEGIN_SNAPSHOT, BEGIN_WRITING, inTransaction } from './transactions.ts'

/** A PostgreSQL server, accessed through pg. */
export class PostgresServer<C extends PgClient> implements Server<C> {
  readonly #source: PoolSource
  readonly #homeQuery: Statement<DatabaseIdentity>
  readonly #names = new StatementNames()
  readonly #hostWarnings = new HostWarnings()
  #home: DatabaseIdentity | undefined

  constructor(urlOrPool: string | PgPool, place: Place) {
    this.#source = new PoolSource(urlOrPool)
    this.#homeQuery = identityQuery(place)
  }

  plainly<T>(work: (connection: ServerConnection<C>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#onConnection(deadline, async (connection) => {
      await this.#rollBackLeftOpen(connection)
      const value = await work(connection)
      await this.#learnHome(connection)
      return value
    })
  }

  inSnapshot<T>(work: (connection: ServerConnection<C>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#onConnection(deadline, (connection) =>
      inTransaction(connection, this.#beginning(BEGIN_SNAPSHOT), work),
    )
  }

  inTransaction<T>(work: (connection: ServerConnection<C>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#onConnection(deadline, (connection) => inTransaction(connection, this.#beginning(BEGIN_WRITING), work))
  }

  joined(transaction: C, deadline: Deadline): ServerConnection<C> {
    if (!isPgClient(transaction)) throw new TypeError('the transaction must be a client of pg, with a transaction open')

    const connection = new PostgresConnection(transaction, { retry: 'host-transaction', deadline })
    return { transaction, all: (statement) => this.#whileListening(transaction, () => connection.all(statement)) }
  }

  async refuseUnlessOpen(connection: ServerConnection<C>, deadline: Deadline): Promise<void> {
    await connection.all(IN_TRANSACTION)
    if (this.#home === undefined) return

    const [theirs] = await connection.all(this.#homeQuery)
    if (!isSame(this.#home, theirs)) await this.#learnHomeAgain(deadline) // our tables may have been recreated
    refuseElsewhere(this.#home, theirs)
  }

  warnings(deadline: Deadline): Promise<readonly string[]> {
    return this.#onConnection(deadline, async (connection) => warningsAbout(await connection.all(DURABILITY)))
  }

  onWarning(listener: (message: string) => void): void {
    this.#hostWarnings.listen(listener)
  }

  close(): Promise<void> {
    return this.#source.close()
  }

  async #onConnection<T>(deadline: Deadline, work: (connection: PostgresConnection<C>) => Promise<T>): Promise<T> {
    return onClient(this.#source, deadline, (client) =>
      work(new PostgresConnection(asHosts<C>(client), { retry: 'call', deadline, names: this.#names })),
    )
  }

  #beginning(begin: string): Beginning {
    return { begin, leftOpen: () => this.#hostWarnings.report(LEFT_OPEN) }
  }

  async #rollBackLeftOpen(connection: PostgresConnection<C>): Promise<void> {
    const known = knownStatus(connection.transaction)
    if (known === 'outside' || (known === undefined && !this.#source.isHosts)) return
    if (known === undefined && !(await isInsideTransaction(connection))) return

    this.#hostWarnings.report(LEFT_OPEN)
    await connection.all(ROLL_BACK)
  }

  /** The host's client may have no listener for the loss of its server. */
  async #whileListening<T>(client: C, work: () => Promise<T>): Promise<T> {
    const stopListening = this.#source.errorListeners.listen(client)
    try {
      return await work()
    } finally {
      stopListening()
    }
  }

  /** Records what the storage's own connections reach, once the tables exist. */
  async #learnHome(connection: ServerConnection<C>): Promise<void> {
    if (this.#home !== undefined) return

    const [home] = await connection.all(this.#homeQuery)
    if (home !== undefined && home.ledger !== null) this.#home = home
  }

  async #learnHomeAgain(deadline: Deadline): Promise<void> {
    this.#home = undefined
    await this.#onConnection(deadline, (connection) => this.#learnHome(connection))
  }
}

// Outside a transaction savepoints do not exist, and in a failed transaction only its end can run.
const IN_TRANSACTION = command('savepoint forgelet; release savepoint forgelet')

function asHosts<C extends PgClient>(client: PgClient): C {
  return client as C // made by the host's pool, as C says; or by pg if a URL was given
}
