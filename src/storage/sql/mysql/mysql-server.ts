import type { Deadline } from '../server/call-deadline.ts'
import { HostWarnings } from '../server/host-warnings.ts'
import type { Server, ServerConnection } from '../server/server.ts'
import type { Lent } from './checkout.ts'
import { Checkout } from './checkout.ts'
import { JoinedTransactions } from './joined-transactions.ts'
import { MysqlServerConnection } from './mysql-connection.ts'
import type { MysqlConnection, MysqlPool } from './mysql-pool.ts'
import { physical } from './mysql-pool.ts'
import { PoolSource } from './pool-source.ts'
import { DURABILITY, warningsAbout } from './server-warnings.ts'
import { withSettingsUntil } from './statement-settings.ts'
import { BEGIN, BEGIN_SNAPSHOT, inTransaction, rollBack } from './transactions.ts'

/**
 * How long reads wait for a table that is being changed, in milliseconds. The runtime retries them within the deadline.
 */
const TABLE_WAIT = 1000

/** A MariaDB server, accessed through mysql2. */
export class MysqlServer<C extends MysqlConnection> implements Server<C> {
  readonly #source: PoolSource<C>
  readonly #hostWarnings = new HostWarnings()
  readonly #checkout: Checkout<C>
  readonly #joined = new JoinedTransactions<C>()

  /** @param needsUuid - whether ids are stored as `uuid` */
  constructor(urlOrPool: string | MysqlPool<C>, needsUuid: boolean) {
    this.#source = new PoolSource(urlOrPool)
    this.#checkout = new Checkout(this.#source, needsUuid, this.#hostWarnings)
  }

  plainly<T>(work: (connection: ServerConnection<C>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#checkout.on(deadline, async (lent) => {
      const { autocommit, open } = await lent.facts()
      if (open === 'yes') await rollBack(lent)
      return work(ours(lent, TABLE_WAIT, autocommit === 'no'))
    })
  }

  inSnapshot<T>(work: (connection: ServerConnection<C>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#checkout.on(deadline, (lent) =>
      inTransaction(lent, BEGIN_SNAPSHOT, () => work(ours(lent, TABLE_WAIT))),
    )
  }

  inTransaction<T>(work: (connection: ServerConnection<C>) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.#checkout.on(deadline, (lent) => inTransaction(lent, BEGIN, () => work(ours(lent))))
  }

  joined(transaction: C, deadline: Deadline): ServerConnection<C> {
    return this.#joined.connection(transaction, deadline)
  }

  beneath(transaction: C): object {
    return physical(transaction)
  }

  refuseUnlessOpen({ transaction }: ServerConnection<C>, deadline: Deadline): Promise<void> {
    return deadline.ask(() => this.#joined.refuseUnlessOpen(transaction, this.#checkout.database))
  }

  warnings(deadline: Deadline): Promise<readonly string[]> {
    return this.plainly(async (connection) => (await connection.all(DURABILITY)).flatMap(warningsAbout), deadline)
  }

  onWarning(listener: (message: string) => void): void {
    this.#hostWarnings.listen(listener)
  }

  close(): Promise<void> {
    return this.#source.close()
  }
}

function ours<C extends MysqlConnection>(
  { connection, deadline }: Lent<C>,
  maxLockWait?: number,
  endsEach = false,
): MysqlServerConnection<C> {
  const prepare = withSettingsUntil(deadline, maxLockWait)
  return new MysqlServerConnection(connection, { retry: 'call', deadline, prepare, endsEach })
}
