import { need } from '../../../schema/arguments.ts'
import { isForgeError } from '../../../schema/errors.ts'
import { refuseUnknown } from '../../../schema/options.ts'
import { unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { pauseBefore } from '../retry.ts'
import { Call } from './call.ts'
import { commit, succeeds } from './connections.ts'
import type { ServerConnection, ServerRules } from './server.ts'

/** What runs services in an open transaction: a forge. `C` is the client of the host, `S` the services. */
export interface Transactional<C, S> {
  /** Same as the forge's `withTransaction`. */
  withTransaction<T>(
    transaction: C,
    work: (services: S) => Promise<T>,
  ): Promise<{ readonly value: T; afterCommit(): void }>
}

/** What the forge returns for a transaction that can be committed. */
interface Committed<T> {
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

/** What begins the transactions of the host. */
interface Beginning<C> {
  readonly rules: ServerRules
  readonly begin: readonly Statement<unknown>[]
  connect(): Promise<ServerConnection<C>>
}

/**
 * Runs work in a transaction, and commits it. If the database aborts that, also at a statement of the host itself, runs all
 * of it again.
 */
export async function repeatTransaction<T, C, S>(
  beginning: Beginning<C>,
  forge: Transactional<C, S>,
  work: (services: S, client: C) => Promise<T>,
): Promise<T> {
  const attempt = (): Promise<Committed<T>> => transact(beginning, forge, work)
  const mayRepeat = (error: unknown): boolean => saysAborted(beginning.rules.translate(error, 'host-transaction'))
  for (let count = 1; ; count += 1) {
    const result = await attempt().catch((error) => {
      if (count === MAX_ATTEMPTS || !mayRepeat(error)) throw error
    })
    if (result !== undefined) {
      result.afterCommit()
      return result.value
    }
    await new Promise((resolve) => setTimeout(resolve, pauseBefore(count, MAX_PAUSE_MS)))
  }
}

async function transact<T, C, S>(
  { rules, begin, connect }: Beginning<C>,
  forge: Transactional<C, S>,
  work: (services: S, client: C) => Promise<T>,
): Promise<Committed<T>> {
  const connection = await connect().catch((error) => Promise.reject(rules.translate(error, 'call')))
  let state: 'sound' | 'spoilt' = 'spoilt'
  try {
    await new Call().run(() => connection.run(begin))
    const client = connection.transaction
    const result = await forge
      .withTransaction(client, (services) => work(services, client))
      .catch(async (error) => {
        if (await succeeds(new Call().run(() => connection.rollBack()))) state = 'sound'
        throw state === 'spoilt' && saysAborted(error)
          ? unavailable('the server did not answer ROLLBACK', error)
          : error
      })
    const isCommitted = await new Call().run((call) => call.commit(() => commit(connection, rules)))
    if (!isCommitted) throw new TypeError(ROLLED_BACK)
    state = 'sound'
    return result
  } finally {
    connection.release(state)
  }
}

function saysAborted(error: unknown): boolean {
  return isForgeError(error, 'STORAGE_BUSY') && error.details.retry === 'host-transaction'
}

const ROLLED_BACK = 'a statement of the transaction failed, and its error was caught: nothing is committed'
