import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runAsync } from '../../../schema/sync-or-async.ts'
import type { AtOnceSession } from '../session.ts'
import type { Deadline } from './deadline.ts'
import type { Connection, ServerRules } from './server.ts'
import type { SessionOptions } from './session.ts'
import { ServerSession } from './session.ts'

/** How long changes take locks after one without locks was refused, in milliseconds. */
const LOCKING_MS = 1000

/**
 * Makes changes that are one statement. Where several processes change the same thing, the server refuses many of these: after a
 * refusal, changes take locks for a second. Source: docs/decisions/0009-changes-at-once.md
 */
export class ChangesAtOnce {
  readonly #options: SessionOptions | undefined
  #lockingUntil = 0

  constructor({ merged, limitsAtOnce }: Pick<ServerRules, 'merged' | 'limitsAtOnce'>) {
    this.#options = limitsAtOnce && { retry: 'call', merged, limitsAtOnce }
  }

  /** Whether the database can make a change by one statement, and none was refused lately. */
  get arePossible(): boolean {
    return this.#options !== undefined && performance.now() >= this.#lockingUntil
  }

  /** Makes a change. Returns undefined if nothing was written. */
  async make<T>(
    connection: Connection,
    deadline: Deadline,
    work: (session: AtOnceSession) => SyncOrAsync<T | undefined>,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined> {
    const options = this.#options
    // The host may have left a transaction open on the connection.
    if (options === undefined || connection.status !== 'I') return undefined
    const session = new ServerSession(connection, deadline, signal === undefined ? options : { ...options, signal })
    const written = await runAsync(work(session))
    if (session.isRefused) this.#lockingUntil = performance.now() + LOCKING_MS
    return written
  }
}
