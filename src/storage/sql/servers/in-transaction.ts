import { need } from '../../../schema/arguments.ts'
import { isForgeError } from '../../../schema/errors.ts'
import { refuseUnknown } from '../../../schema/options.ts'
import type { Statement } from '../query.ts'
import { pauseBefore } from '../retry.ts'
import { translate } from './answers.ts'
import { TimedCall } from './call.ts'
import { Connections, commitAfter } from './connections.ts'
import type { ServerConnection } from './server.ts'

/** What runs services in an open transaction: a forge. `C` is the client of the host, `S` the services. */
export interface Transactional<C, S> {
  /** Same as the forge's `withTransaction`. */
  withTransaction<T>(
    transaction: C,
    work: (services: S) => Promise<T>,
  ): Promise<{ readonly value: T; afterCommit(): void }>
}

/** The value of the work in a transaction, and what notifies the listeners behind its COMMIT. */
interface CommittedWork<T> {
  readonly value: T
  afterCommit(): void
}

/** How `inTransaction` begins a transaction. */
export interface TransactionOptions {
  /** Default: `read committed`, at which the fewest transactions have to be repeated. */
  readonly isolation?: Isolation | undefined
}

const ISOLATION = ['read committed', 'repeatable read', 'serializable'] as const

/** An isolation level of a transaction, as SQL names it. */
export type Isolation = (typeof ISOLATION)[number]

/** Returns the level of a transaction. @throws TypeError if it is not a level */
export function isolationIn(options: TransactionOptions): Isolation {
  refuseUnknown('inTransaction', options, { isolation: true })
  const { isolation = 'read committed' } = options
  need(ISOLATION.includes(isolation), 'inTransaction', 'isolation', `one of ${ISOLATION.join(', ')}`)
  return isolation
}

/** How often a transaction is begun at most. */
const MAX_ATTEMPTS = 10

/** The longest pause before the next, in milliseconds. */
const MAX_PAUSE_MS = 200

/** How the transactions of the host begin. */
export interface Beginning<C> {
  readonly begin: readonly Statement<unknown>[]
  connect(): Promise<ServerConnection<C>>
}

/**
 * Runs work in a transaction, and commits it. If the database aborts that, also at a statement of the host itself, runs all
 * of it again. BEGIN, ROLLBACK and COMMIT have five seconds each, and the host what it needs.
 */
export async function repeatTransaction<T, C, S>(
  { begin, connect }: Beginning<C>,
  forge: Transactional<C, S>,
  work: (services: S, client: C) => Promise<T>,
): Promise<T> {
  const attempt = (call: TimedCall): ReturnType<typeof forge.withTransaction<T>> =>
    new Connections(connect).with(call, (connection) =>
      commitAfter(call, connection, async () => {
        call.shorten()
        for (const statement of begin) await connection.run(statement)
        call.lengthen(Number.POSITIVE_INFINITY)
        return forge.withTransaction(connection.transaction, (services) => work(services, connection.transaction))
      }),
    )
  return repeated(() => new TimedCall({ milliseconds: Number.POSITIVE_INFINITY }).run(attempt))
}

/** Makes an attempt again as long as the database aborts it, ten times at most, and notifies the listeners behind its COMMIT. */
export async function repeated<T>(attempt: () => Promise<CommittedWork<T>>): Promise<T> {
  for (let count = 1; ; count += 1) {
    const result = await attempt().catch((error) => {
      const translated = translate(error, 'host-transaction')
      if (!saysAborted(translated)) throw error
      if (count === MAX_ATTEMPTS) throw translated
    })
    if (result !== undefined) {
      result.afterCommit()
      return result.value
    }
    await new Promise((resolve) => setTimeout(resolve, pauseBefore(count, MAX_PAUSE_MS)))
  }
}

function saysAborted(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_BUSY') && error.details.retry === 'host-transaction'
}
