import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import { BrokenReference, busy, unavailable } from '../errors.ts'
import type { Call } from './call.ts'
import type { Server, ServerConnection, ServerRules } from './server.ts'

/**
 * Takes connections out of the pool of a server. If the server refuses one more, the call waits until another returns
 * its connection.
 */
export class Connections<Tx> {
  readonly #server: Server<Tx>
  /** How many calls have a connection, or have asked for one. */
  #open = 0
  /** How many have returned one in order. */
  #returned = 0
  readonly #waiting: (() => void)[] = []

  constructor(server: Server<Tx>) {
    this.#server = server
  }

  /** Runs work on a connection, which is destroyed if the call is over before the work is. */
  async with<T>(call: Call, work: (connection: ServerConnection<Tx>) => T | Promise<T>): Promise<T> {
    this.#open += 1
    try {
      const connection = await this.#take(call)
      let state: 'sound' | 'spoilt' = 'sound'
      const stop = call.onInterrupt(() => connection.release('spoilt'))
      try {
        return await work(connection)
      } catch (error) {
        if (error instanceof Spoilt || isForgeError(error, 'STORAGE_UNAVAILABLE')) state = 'spoilt'
        throw error instanceof Spoilt ? error.error : error
      } finally {
        stop()
        connection.release(state)
        if (state === 'sound' && !call.isOver) this.#returned += 1
      }
    } finally {
      this.#open -= 1
      this.#waiting.shift()?.()
    }
  }

  async #take(call: Call): Promise<ServerConnection<Tx>> {
    const { expired } = call
    const before = this.#returned
    call.expired = () => poolBusy(this.#returned > before ? POOL_TOO_SMALL : NONE_IN_TIME)
    for (;;) {
      const returned = this.#returned
      try {
        const connection = await this.#server.connect()
        if (!call.isOver) {
          call.expired = expired
          return connection
        }
        connection.release('sound')
      } catch (error) {
        if (!call.isOver) await this.#refused(call, error, returned)
      }
      if (call.isOver) throw busy('call')
    }
  }

  /** Returns when the call can ask again. Throws why there is no connection. */
  async #refused(call: Call, error: unknown, returned: number): Promise<void> {
    const isFull = this.#server.saysFull(error)
    if (isFull && this.#returned > returned) return
    if (isFull && this.#open > 1) {
      call.expired = () => poolBusy(SERVER_FULL)
      this.#open -= 1
      await new Promise<void>((goOn) => this.#waiting.push(goOn))
      this.#open += 1
      return
    }
    const translated = this.#server.translate(error, 'call')
    // A pool that gives up by a limit of its own does not know why.
    if (isForgeError(translated, 'STORAGE_BUSY')) throw call.expired()
    throw isForgeError(translated) || translated instanceof TypeError
      ? translated
      : unavailable('the pool provides no connection to the database', error)
  }
}

/** An error after which the connection cannot be used again. */
export class Spoilt extends Error {
  readonly error: unknown

  constructor(error: unknown) {
    super('the connection cannot be used again')
    this.error = error
  }
}

/**
 * Commits, and returns whether the server has; it may have rolled back instead.
 *
 * @throws ForgeError `STORAGE_UNAVAILABLE` with the outcome `unknown` if the server has not answered; why it has refused,
 * which is the error of the driver for a deferred constraint of the host
 */
export async function commit(connection: ServerConnection<unknown>, rules: ServerRules): Promise<boolean> {
  try {
    return await connection.commit()
  } catch (error) {
    if (!rules.saysRefused(error)) {
      throw unavailable('the connection was lost while committing: the change may be committed', error, 'unknown')
    }
    const translated = rules.translate(error, 'call')
    throw translated instanceof BrokenReference ? error : translated
  }
}

/** Returns whether work has not failed. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

const POOL_TOO_SMALL =
  'no connection became free in time: enlarge the pool, and use withTransaction inside a transaction'
const NONE_IN_TIME = 'the pool provided no connection in time: use withTransaction for calls inside a transaction'
const SERVER_FULL = 'the server accepts no more connections, and none of those that are open became free in time'

function poolBusy(message: string): Error {
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' })
}
