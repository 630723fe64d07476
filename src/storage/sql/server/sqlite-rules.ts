import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Retry } from '../errors.ts'
import { unavailable } from '../errors.ts'
import type { Statement } from '../query.ts'
import { limitedTo, retry } from '../retry.ts'
import { translateError } from '../sqlite/errors.ts'
import { writeLock } from '../sqlite/sqlite-runtime.ts'
import type { Deadline } from './call-deadline.ts'
import type { ServerConnection } from './connection.ts'
import type { ConnectionState, DatabaseRules, HostConnection, OwnConnection } from './rules.ts'

/** Does nothing outside a transaction, because temporary tables have no such setting, and is refused inside one. */
const PROBE = command('pragma temp.synchronous = full')

const ROLL_BACK = command('rollback')
const BEGIN = command('begin immediate')

/** SQLite, through a library whose one connection serves all callers and whose transactions begin without the write lock. */
export class SqliteRules implements DatabaseRules {
  readonly commit: Statement<unknown> = command('commit')
  readonly rollBack: Statement<unknown> = ROLL_BACK
  readonly levels = { changes: undefined, snapshot: undefined }
  readonly losesTransactions = false
  readonly #writeLock: Statement<unknown>

  constructor(prefix: string) {
    this.#writeLock = writeLock(prefix)
  }

  translate(error: unknown, runAgain: Retry): unknown {
    return translateError(error, runAgain)
  }

  translateConnect(error: unknown): unknown {
    return translateError(error, 'call')
  }

  saysFull(): boolean {
    return false
  }

  /** If a failing disk has rolled back a COMMIT, Kysely only reports that nothing was left to roll back. */
  translateCommit(error: unknown): unknown {
    const translated = translateError(error, 'call')
    if (isForgeError(translated) || isConstraint(error)) return translated
    return unavailable('the connection was lost while committing: the change may be committed', error, 'unknown')
  }

  translateWork(error: unknown): unknown {
    const translated = translateError(error, 'call')
    return isForgeError(translated, 'STORAGE_BUSY') ? translated : error
  }

  prepare(): undefined {
    return undefined
  }

  frame(): undefined {
    return undefined
  }

  lent(): void {
    // Nothing is kept that the host's code could change.
  }

  async refuseServer(): Promise<void> {
    // There is no server.
  }

  /** An open transaction may be in use by another caller: it is not rolled back. */
  async check({ connection }: OwnConnection): Promise<ConnectionState> {
    if (!(await isOpen(connection))) return { leftOpen: false }
    throw new TypeError(
      'the connection is inside a transaction: end it, or use withTransaction if it is a transaction of Kysely',
    )
  }

  async begin({ connection }: OwnConnection): Promise<ServerConnection> {
    await connection.run([BEGIN])
    return connection
  }

  /** As long as our tables do not exist, nothing can take the lock, so the transaction is begun again. */
  async setUp(connection: ServerConnection, deadline: Deadline): Promise<ServerConnection> {
    if (await whenFree(deadline, () => this.#takeWriteLock(connection))) return connection

    await connection.run([ROLL_BACK])
    await whenFree(deadline, () => connection.run([BEGIN]))
    return connection
  }

  async refuseUnlessOpen({ connection }: HostConnection): Promise<void> {
    if (!(await isOpen(connection))) throw new TypeError('the transaction is not open: it has ended')
    await this.#takeWriteLock(connection)
  }

  async failedInHostTransaction(): Promise<void> {
    // A failed statement leaves the transaction as it was.
  }

  async warnings(connection: ServerConnection): Promise<readonly string[]> {
    const [settings] = await connection.all(SETTINGS)
    return settings === undefined ? [] : warningsAbout(settings)
  }

  /** Returns false if our tables do not exist. The next check of the tables reports that. */
  async #takeWriteLock(connection: ServerConnection): Promise<boolean> {
    try {
      await connection.run([this.#writeLock])
      return true
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('no such table')) return false
      throw error
    }
  }
}

/**
 * Waits for the one write lock. SQLite itself waits as the host has configured it, and blocks the event loop meanwhile.
 */
async function whenFree<T>({ lockWait }: Deadline, attempt: () => Promise<T>): Promise<T> {
  return retry(attempt, limitedTo(lockWait))
}

async function isOpen(connection: ServerConnection): Promise<boolean> {
  try {
    await connection.run([PROBE])
    return false
  } catch (error) {
    if (error instanceof Error && error.message.includes('inside a transaction')) return true
    throw error
  }
}

/** A deferred constraint of the host, which its own code violated. */
function isConstraint(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT')
}

interface Settings {
  readonly foreign_keys: number
  readonly synchronous: number
}

const SETTINGS: Statement<Settings> = {
  sql: 'select foreign_keys, synchronous from pragma_foreign_keys, pragma_synchronous',
  parameters: [],
  returnsRows: true,
}

function warningsAbout({ foreign_keys, synchronous }: Settings): readonly string[] {
  const warnings: string[] = []
  if (foreign_keys === 0) {
    warnings.push('the connection has foreign_keys = off: grants may outlive their badge; set pragma foreign_keys = on')
  }
  if (synchronous < 2) {
    warnings.push(
      `the connection has synchronous = ${synchronous}: committed data may be lost when the power fails; ` +
        'set pragma synchronous = full',
    )
  }
  return warnings
}
