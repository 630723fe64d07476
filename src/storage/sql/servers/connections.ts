import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import { busy, unavailable } from '../errors.ts'
import type { Call } from './call.ts'
import type { Server, ServerConnection } from './server.ts'

/**
 * Takes connections out of the pool of a server. If the server refuses one more, the call waits until another returns
 * its connection.
 */
export class Connections<Tx> {
  readonly #server: Server<Tx>
  /** How many calls have a connection, or have asked for one. */
  #open = 0
  /** How many have had a connection, or got none; and how many have returned one in order. */
  #left = 0
  #returned = 0
  readonly #waiting: (() => void)[] = []

  constructor(server: Server<Tx>) {
    this.#server = server
  }

  /** Runs work on a connection, which is destroyed if the call is over before the work is. */
  async with<T>(call: Call, work: (connection: ServerConnection<Tx>) => T | Promise<T>): Promise<T> {
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
      this.#leave()
    }
  }

  async #take(call: Call): Promise<ServerConnection<Tx>> {
    const before = this.#returned
    call.expireWith(() => (this.#returned > before ? poolTooSmall() : noneInTime()))
    if (this.#waiting.length > 0 && this.#open > 0) await this.#turn(call)
    this.#open += 1
    try {
      for (;;) {
        const left = this.#left
        try {
          const connection = await this.#server.connect()
          if (!call.isOver) {
            call.expireWith()
            return connection
          }
          connection.release('sound')
          throw busy('call')
        } catch (error) {
          await this.#refused(call, error, left)
        }
      }
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  /**
   * If the server is full, waits until another call has left, or does not wait if one has left since this one asked.
   * Otherwise throws why there is no connection.
   */
  async #refused(call: Call, error: unknown, left: number): Promise<void> {
    if (call.isOver) throw busy('call')
    if (this.#server.saysFull(error)) {
      if (this.#left > left) return
      if (this.#open > 1) {
        this.#open -= 1
        await this.#turn(call)
        this.#open += 1
        return
      }
    }
    const translated = this.#server.translate(error, 'call')
    // A pool that gives up by a limit of its own does not know why.
    if (isForgeError(translated, 'STORAGE_BUSY')) throw call.expiry()
    throw isForgeError(translated) || translated instanceof TypeError
      ? translated
      : unavailable('the pool provides no connection to the database', error)
  }

  #turn(call: Call): Promise<void> {
    call.expireWith(serverFull)
    return new Promise((goOn) => this.#waiting.push(goOn))
  }

  #leave(): void {
    this.#open -= 1
    this.#left += 1
    this.#waiting.shift()?.()
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

function poolTooSmall(): Error {
  return poolBusy('no connection became free in time: enlarge the pool, and use withTransaction inside a transaction')
}

function noneInTime(): Error {
  return poolBusy('the pool provided no connection in time: use withTransaction for calls inside a transaction')
}

function serverFull(): Error {
  return poolBusy('the server accepts no more connections, and none of those that are open became free in time')
}

function poolBusy(message: string): Error {
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' })
}
