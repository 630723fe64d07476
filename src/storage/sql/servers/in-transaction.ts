import { need } from '../../../schema/arguments.ts'
import { isForgeError } from '../../../schema/errors.ts'
import { refuseUnknown } from '../../../schema/options.ts'
import type { Statement } from '../query.ts'
import { pauseBefore } from '../retry.ts'
import { Connections } from './connections.ts'
import { Deadline, Deadlines } from './deadline.ts'
import { translate } from './errors.ts'
import type { Client, ServerRules } from './server.ts'
import { checkedAfter, commitAfter } from './transaction.ts'

/** What runs services in an open transaction: a forge. `C` is the client of the host, `S` the services. */
export interface Transactional<C, S> {
  /** Same as the forge's `withTransaction`. */
  withTransaction<T>(transaction: C, work: (services: S) => Promise<T>): Promise<WorkInTransaction<T>>
}

/** What work in a transaction has returned. */
export interface WorkInTransaction<T> {
  readonly value: T
  /** Notifies the listeners of the forge. To be called behind the COMMIT. */
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

/** How the transactions of the host begin and end, and on which connections. */
export interface Beginning extends Pick<ServerRules, 'commit'> {
  readonly begin: readonly Statement<unknown>[]
  readonly client: Client
}

/**
 * Runs work in a transaction, and commits it. If the database aborts that, also at a statement of the host itself, runs all
 * of it again. BEGIN, ROLLBACK and COMMIT have five seconds each, and the host what it needs.
 */
export async function repeatTransaction<T, C, S>(
  { begin, client, commit }: Beginning,
  forge: Transactional<C, S>,
  work: (services: S, client: C) => Promise<T>,
): Promise<T> {
  const attempt = (deadline: Deadline): Promise<WorkInTransaction<T>> =>
    new Connections(client).with(deadline, (connection) =>
      commitAfter(deadline, connection, { commit }, async () => {
        const send = (statement: Statement<unknown>): Promise<unknown> => {
          deadline.shorten()
          return connection.run(statement.sql, [])
        }
        const inside = (): Promise<WorkInTransaction<T>> => {
          deadline.lengthen(Number.POSITIVE_INFINITY)
          // biome-ignore lint/nursery/noUnsafeTypeAssertion: the pool is of such clients
          const open = connection.transaction as C
          return forge.withTransaction(open, (services) => work(services, open))
        }
        for (const statement of begin) await send(statement)
        return connection.commit === undefined ? checkedAfter(send, inside) : inside()
      }),
    )
  return repeated(() => new Deadline(new Deadlines(), { milliseconds: Number.POSITIVE_INFINITY }).run(attempt))
}

/** Makes an attempt again as long as the database aborts it, ten times at most, and notifies the listeners behind its COMMIT. */
export async function repeated<T>(attempt: () => Promise<WorkInTransaction<T>>): Promise<T> {
  for (let count = 1; ; count += 1) {
    const result = await attempt().catch((error) => {
      const translated = translate(error, 'host-transaction')
      if (!isAborted(translated)) throw error
      if (count === MAX_ATTEMPTS) throw translated
    })
    if (result !== undefined) {
      result.afterCommit()
      return result.value
    }
    await new Promise((resolve) => setTimeout(resolve, pauseBefore(count, MAX_PAUSE_MS)))
  }
}

function isAborted(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_BUSY') && error.details.retry === 'host-transaction'
}
