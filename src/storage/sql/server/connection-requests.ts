/** What the requests of one pool have in common. */
interface PoolActivity {
  /** The number of connections that are being opened. */
  opening: number
  /** The number of connections that the pool has provided. */
  provided: number
}

/** The requests for connections of one pool. */
export class ConnectionRequests {
  readonly #activity: PoolActivity = { opening: 0, provided: 0 }

  /** Creates one more. */
  create(): ConnectionRequest {
    return new ConnectionRequest(this.#activity)
  }
}

/** One request for a connection. It shows why it is not answered. */
export class ConnectionRequest {
  readonly #activity: PoolActivity
  #queued: Readonly<PoolActivity> | undefined
  #isMade = false

  constructor(activity: PoolActivity) {
    this.#activity = activity
  }

  /**
   * Makes the request. `answered` must be called when it is answered.
   *
   * @param connect - calls `queued` before it returns if the pool has no connection to give
   */
  make<T>(connect: (queued: () => void) => Promise<T>): Promise<T> {
    const connecting = connect(() => {
      this.#queued = { ...this.#activity }
    })
    if (!this.isQueued) this.#activity.opening += 1
    this.#isMade = true
    return connecting
  }

  /** Counts the answer of the pool. */
  answered(answer: 'provided' | 'failed'): void {
    if (!this.#isMade) return

    if (!this.isQueued) this.#activity.opening -= 1
    if (answer === 'provided') this.#activity.provided += 1
  }

  /** Whether the pool had no connection to give. */
  get isQueued(): boolean {
    return this.#queued !== undefined
  }

  /**
   * Whether the request waits until others release their connections. False if the pool opens a connection for it, or
   * was opening others and has provided none since: the server does not accept them.
   */
  get waitsForOthers(): boolean {
    if (this.#queued === undefined) return false
    return this.#queued.opening === 0 || this.#queued.provided !== this.#activity.provided
  }
}
