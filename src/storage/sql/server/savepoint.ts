import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { ServerConnection, ServerTransaction } from './connection.ts'
import type { DeferringConnection } from './deferring-connection.ts'

const SAVEPOINT = command('savepoint forgelet')
const RELEASE = command('release savepoint forgelet')
const ROLL_BACK = command('rollback to savepoint forgelet')

const MARK = command('savepoint forgelet_open')

/** Releases the mark of a transaction. It fails if the transaction is not the one that was marked. */
export const RELEASE_MARK: Statement<unknown> = command('release savepoint forgelet_open')

/**
 * Runs work inside the open transaction, all or nothing: a failure leaves the rest of the transaction unchanged. The
 * savepoint is set together with the first statement of the work.
 *
 * @param ending - what rolls back to the savepoint: the connection of an interrupted call runs nothing more
 */
export async function inSavepoint<T>(
  connection: DeferringConnection<unknown>,
  work: () => Promise<T>,
  ending: () => ServerConnection,
): Promise<T> {
  connection.defer(SAVEPOINT)
  try {
    const value = await work()
    if (connection.wasLent) await releaseAfterHost(connection)
    else await connection.run([RELEASE])
    return value
  } catch (error) {
    const isSet = hasSavepoint(connection)
    connection.drop()
    if (isSet) await takeBack(ending())
    throw error
  }
}

/** Returns whether the savepoint was sent: rolling back to one that does not exist would end a transaction. */
export function hasSavepoint(connection: DeferringConnection<unknown>): boolean {
  return !connection.keepsBack(SAVEPOINT)
}

const GUARD = command('savepoint forgelet_guard')
const CHECK_GUARD: readonly Statement<unknown>[] = [command('release savepoint forgelet_guard'), GUARD]

/**
 * Returns a connection whose statements run only while its transaction is the one in which the first of them ran, which
 * sets the savepoint of a change. Otherwise, if a statement of the host's own that runs at the same time loses the
 * transaction, those that follow would be committed by themselves.
 */
export function guarded<Tx>(connection: ServerTransaction<Tx>): ServerTransaction<Tx> {
  let isSet = false
  const batch: ServerTransaction<Tx>['batch'] = async (statements) => {
    if (isSet) return (await connection.batch(statements, CHECK_GUARD)).slice(CHECK_GUARD.length)

    isSet = true
    const [savepoint, ...others] = statements
    if (savepoint === undefined) return []
    const [answer = [], , ...rows] = await connection.batch([savepoint, GUARD, ...others])
    return [answer, ...rows]
  }
  return {
    ...connection,
    batch,
    all: async <Row>(statement: Statement<Row>) => {
      const [rows = []] = await batch([statement])
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
      return rows as readonly Row[]
    },
  }
}

/** Fails if the transaction is no longer the one that was marked, and keeps its mark. */
const CHECK_MARK: readonly Statement<unknown>[] = [RELEASE_MARK, MARK]

/**
 * Returns a connection whose statements run only while its transaction is the one that was marked. A statement of the
 * host's code that was not awaited can end the transaction; those behind it would be committed by themselves.
 */
export function checkingMark(connection: ServerConnection, isMarked: () => boolean): ServerConnection {
  const batch: ServerConnection['batch'] = async (statements, opening = []) => {
    if (!isMarked()) return connection.batch(statements, opening)
    return (await connection.batch(statements, [...CHECK_MARK, ...opening])).slice(CHECK_MARK.length)
  }
  return {
    run: (statements) => connection.run(statements),
    batch,
    all: async <Row>(statement: Statement<Row>) => {
      const [rows = []] = await batch([statement])
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: the row type was inferred from the query
      return rows as readonly Row[]
    },
  }
}

/**
 * Runs the host's code in the middle of a transaction, and checks that it left the transaction usable.
 *
 * @param mark - whether to set a mark that exists as long as the transaction does, or to check the one that is set. A
 * statement that the host's code does not wait for can end the transaction later, by a deadlock for example, and a bare
 * COMMIT would report success.
 * @throws TypeError if it did not, with the database's answer as cause
 */
export async function lendGuarded<T>(
  connection: ServerConnection,
  work: () => Promise<T>,
  mark: 'none' | 'set' | 'check',
): Promise<T> {
  const marking = { none: [], set: [MARK], check: CHECK_MARK }[mark]
  await connection.run([...marking, SAVEPOINT])
  const value = await work()
  await releaseAfterHost(connection)
  return value
}

/**
 * Releases a savepoint that was set before the host's code ran. The error of a lost connection is passed on. Any other
 * error means that the transaction is no longer the one that was given.
 */
export async function releaseAfterHost(
  connection: Pick<ServerConnection, 'run'>,
  release: Statement<unknown> = RELEASE,
): Promise<void> {
  try {
    await connection.run([release])
  } catch (error) {
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) throw error
    const message = 'beforeCommit must leave its transaction open and without a failed statement'
    throw new TypeError(release === RELEASE ? message : UNAWAITED, { cause: error })
  }
}

/** The message for a transaction that failed, or ended, after the host's code had returned. */
export const UNAWAITED = 'beforeCommit and prepare must wait for their statements: one failed after they had returned'

/** Rolls back to the savepoint, and keeps it. */
export async function takeBackSoFar(connection: ServerConnection): Promise<void> {
  try {
    await connection.run([ROLL_BACK])
  } catch {
    // The transaction is gone, or has failed as a whole: it cannot commit any of this.
  }
}

/** Rolls back to the savepoint, if that is still possible. */
export async function takeBack(connection: ServerConnection): Promise<void> {
  try {
    // Together: the host may end its transaction and begin another between the two.
    await connection.run([ROLL_BACK, RELEASE])
  } catch {
    // As above.
  }
}
