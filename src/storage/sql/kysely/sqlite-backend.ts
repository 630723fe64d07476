import { isForgeError } from '../../../schema/errors.ts'
import { command } from '../dialect.ts'
import type { Statement } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { Retry } from '../server/failures.ts'
import { unavailable } from '../server/failures.ts'
import type { Queryable } from '../session.ts'
import { translateError } from '../sqlite/errors.ts'
import { writeLock } from '../sqlite/sqlite-storage.ts'
import { pauseBefore } from '../sqlite/waiting.ts'
import type { ConnectionSettings, JoinedConnection, KyselyBackend } from './kysely-backend.ts'

interface Settings {
  readonly foreign_keys: number
  readonly synchronous: number
}

const SETTINGS: Statement<Settings> = {
  sql: 'select foreign_keys, synchronous from pragma_foreign_keys, pragma_synchronous',
  parameters: [],
  returnsRows: true,
}

/** Does nothing outside a transaction, because temporary tables have no such setting, and is refused inside one. */
const PROBE = command('pragma temp.synchronous = full')

const ROLL_BACK = command('rollback')
const BEGIN = command('begin immediate')

/** SQLite through a Kysely, whose transactions begin without the write lock. */
export class SqliteBackend implements KyselyBackend {
  readonly levels = { changes: undefined, snapshot: undefined }
  readonly #writeLock: Statement<unknown>

  constructor(prefix: string) {
    this.#writeLock = writeLock(prefix)
  }

  translate(error: unknown, retry: Retry): unknown {
    return translateError(error, retry)
  }

  translateConnect(error: unknown): unknown {
    return translateError(error, 'call')
  }

  /** If a failing disk has rolled back a COMMIT, Kysely only reports that nothing was left to roll back. */
  translateCommit(error: unknown): unknown {
    const translated = translateError(error, 'call')
    if (isForgeError(translated) || isConstraint(error)) return translated
    return unavailable('the database was lost while committing: the change may be done', error, 'unknown')
  }

  translateWork(error: unknown): unknown {
    const translated = translateError(error, 'call')
    return isForgeError(translated, 'STORAGE_BUSY') ? translated : error
  }

  /** One connection serves all callers, so an open transaction may be in use: it is not rolled back. */
  async look(connection: Queryable): Promise<ConnectionSettings> {
    if (!(await isOpen(connection))) return {}
    throw new TypeError('the connection is inside a transaction: end it, or join it where it is one of Kysely')
  }

  /** As long as our tables do not exist, nothing can take the lock, so Kysely's transaction is begun again. */
  async begin(connection: Queryable, deadline: Deadline): Promise<Queryable> {
    if (await whenFree(deadline, () => this.#takeWriteLock(connection))) return connection

    await connection.all(ROLL_BACK)
    await whenFree(deadline, async () => connection.all(BEGIN))
    return connection
  }

  async refuseUnlessOpen({ connection }: JoinedConnection): Promise<void> {
    if (!(await isOpen(connection))) throw new TypeError('the transaction is not open: it has ended')
    await this.#takeWriteLock(connection)
  }

  async warnings(connection: Queryable): Promise<readonly string[]> {
    const [settings] = await connection.all(SETTINGS)
    return settings === undefined ? [] : warningsAbout(settings)
  }

  /** Returns false if our tables do not exist. The next check of the tables reports that. */
  async #takeWriteLock(connection: Queryable): Promise<boolean> {
    try {
      await connection.all(this.#writeLock)
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
  const end = performance.now() + lockWait
  for (let count = 1; ; count += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY') || performance.now() >= end) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseBefore(count)))
    }
  }
}

async function isOpen(connection: Queryable): Promise<boolean> {
  try {
    await connection.all(PROBE)
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

function warningsAbout({ foreign_keys, synchronous }: Settings): readonly string[] {
  const warnings: string[] = []
  if (foreign_keys === 0) {
    warnings.push('the connection has foreign_keys = off: grants may outlive their badge; set pragma foreign_keys = on')
  }
  if (synchronous < 2) {
    warnings.push(
      `the connection has synchronous = ${synchronous}: what is committed may be lost when the power fails; ` +
        'set pragma synchronous = full',
    )
  }
  return warnings
}
