import { unavailable } from '../errors.ts'
import type { Deadline } from './call-deadline.ts'
import { allKept, poolBusy, serverFull } from './errors.ts'

/** A request that has to wait until a connection of the pool is released. */
interface Waiting {
  readonly deadline: Pick<Deadline, 'isOver'>
  readonly goOn: () => void
}

/** What has become of the requests for the connections of one pool. */
interface PoolActivity {
  /** How many are not answered yet. */
  asking: number
  /** How many of these open a connection. */
  opening: number
  /** How many have got a connection. */
  provided: number
  /** How many of these connections were released, in which state. */
  sound: number
  spoilt: number
}

/** The requests for connections of one pool. */
export class ConnectionRequests {
  readonly activity: PoolActivity = { asking: 0, opening: 0, provided: 0, sound: 0, spoilt: 0 }
  readonly #waiting: Waiting[] = []

  /** Creates one more. */
  create(deadline: Pick<Deadline, 'isOver'>): ConnectionRequest {
    return new ConnectionRequest(this, deadline)
  }

  /** How many connections were released. */
  get released(): number {
    return this.activity.sound + this.activity.spoilt
  }

  /** How many connections are in use by calls. */
  get inUse(): number {
    return this.activity.provided - this.released
  }

  /** Whether calls wait because the server refuses more connections. */
  get areWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Waits until a connection is released, in the order of the calls. */
  turn(deadline: Pick<Deadline, 'isOver'>): Promise<void> {
    return new Promise((goOn) => this.#waiting.push({ deadline, goOn }))
  }

  /** Lets the next one go on. Each that does must call this once more: when it releases its connection, or gets none. */
  next(): void {
    let first = this.#waiting.shift()
    while (first?.deadline.isOver === true) first = this.#waiting.shift()
    first?.goOn()
  }
}

/** One request for a connection. It shows why it is not answered. */
export class ConnectionRequest {
  readonly #requests: ConnectionRequests
  readonly #deadline: Pick<Deadline, 'isOver'>
  #queued: Readonly<PoolActivity> | undefined
  #isRefused = false
  #refusal: unknown
  #isReleased = false

  constructor(requests: ConnectionRequests, deadline: Pick<Deadline, 'isOver'>) {
    this.#requests = requests
    this.#deadline = deadline
  }

  /**
   * Makes the request. If the server refuses one more connection, and others are in use or on their way, it is made
   * again whenever one of them is released. Each connection that this returns must be reported to `released`.
   *
   * @param connect - calls `queued` before it returns if the pool has no connection to give
   * @param saysFull - whether the server has refused the connection because it has too many
   */
  async make<T>(connect: (queued: () => void) => Promise<T>, saysFull: (error: unknown) => boolean): Promise<T> {
    const { activity } = this.#requests
    try {
      // The server has just refused one, and is being asked again already.
      if (this.#requests.areWaiting && activity.opening > 0) await this.#turn()
      for (;;) {
        const { released } = this.#requests
        try {
          return await this.#ask(connect)
        } catch (error) {
          if (!saysFull(error) || this.#deadline.isOver) throw error
          if (activity.asking > 0 || this.#requests.inUse > 0) await this.#turn(error)
          else if (this.#requests.released === released) throw error
          if (this.#deadline.isOver) throw error
        }
      }
    } catch (error) {
      this.#requests.next()
      throw error
    }
  }

  /** Counts the release of the connection, the first time. */
  released(state: 'sound' | 'spoilt'): void {
    if (this.#isReleased) return

    this.#isReleased = true
    this.#requests.activity[state] += 1
    this.#requests.next()
  }

  /** Whether the pool had no connection to give. */
  get isQueued(): boolean {
    return this.#queued !== undefined
  }

  /**
   * Returns the error for a request that is not answered in time. The pool is too small if its connections were used and
   * released meanwhile, and others got them. The server is silent if it was asked for a connection, or if those who had
   * one got no answer. Otherwise the cause is unknown: others may
   * keep the connections for as long as they need.
   */
  unanswered(): Error {
    if (this.#isRefused) return serverFull(this.#refusal)
    if (this.#queued === undefined) return unavailable(NOT_ACCEPTED)
    const { provided, sound, spoilt } = this.#requests.activity
    if (this.#queued.sound < sound) return poolBusy()
    const isSilent = this.#queued.spoilt < spoilt || (this.#queued.opening > 0 && this.#queued.provided === provided)
    return isSilent ? unavailable(NOT_ACCEPTED) : allKept()
  }

  #turn(refusal?: unknown): Promise<void> {
    this.#isRefused = true
    this.#refusal = refusal
    return this.#requests.turn(this.#deadline)
  }

  async #ask<T>(connect: (queued: () => void) => Promise<T>): Promise<T> {
    const { activity } = this.#requests
    this.#queued = undefined
    const connecting = connect(() => {
      this.#queued = { ...activity }
    })
    const opened = this.isQueued ? 0 : 1
    activity.asking += 1
    activity.opening += opened
    try {
      const connection = await connecting
      activity.provided += 1
      return connection
    } finally {
      activity.asking -= 1
      activity.opening -= opened
    }
  }
}

const NOT_ACCEPTED = 'the server accepted no connection within the time limit of the call'
