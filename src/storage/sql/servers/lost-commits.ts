import { unavailable } from '../errors.ts'
import type { Deadline } from './deadline.ts'
import type { Connection } from './server.ts'

/** How long the answer of the server is believed, in milliseconds. */
const CHECK_INTERVAL_MS = 1000

/**
 * Limits the connections that were destroyed behind a COMMIT without an answer. A server that waits for a standby keeps
 * such a connection until it has one, and a pool that has lost it opens another: without a limit, the server would have no
 * connection left for those that read.
 */
export class LostCommits {
  readonly #limit: number
  readonly #serverIds: number[] = []
  /** How many changes are under way. */
  #running = 0
  #nextCheck = 0

  /** @param limit - how many changes may be lost or under way, once one was lost. Default: 10 */
  constructor(limit = 10) {
    this.#limit = limit
  }

  /**
   * Refuses a change while too many are lost.
   *
   * @param findOpen - returns which of these connections the server still has
   * @throws ForgeError `STORAGE_UNAVAILABLE`
   */
  async refuseMore(findOpen: (serverIds: readonly number[]) => Promise<readonly number[]>): Promise<void> {
    if (this.#hasRoom()) return
    if (performance.now() >= this.#nextCheck) {
      this.#nextCheck = performance.now() + CHECK_INTERVAL_MS
      const known = this.#serverIds.length
      const open = await findOpen(this.#serverIds)
      this.#serverIds.splice(0, known, ...open)
    }
    if (this.#hasRoom()) return
    throw unavailable(
      'the server does not answer COMMIT, and keeps the connections that wait for it: see to its standby and its disk',
    )
  }

  #hasRoom(): boolean {
    const lost = this.#serverIds.length
    return lost === 0 || lost + this.#running < this.#limit
  }

  /** Runs a change, and remembers its connection if the deadline is reached behind its COMMIT. */
  async counted<T>(deadline: Deadline, { serverId }: Connection, change: () => Promise<T>): Promise<T> {
    const lost = (): void => void (serverId !== undefined && deadline.isCommitting && this.#serverIds.push(serverId))
    const removeListener = deadline.onEnd(lost)
    this.#running += 1
    try {
      return await change()
    } finally {
      this.#running -= 1
      removeListener()
    }
  }
}
