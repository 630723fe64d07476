import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import { isTypeError } from '../../../schema/realms.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { busy, unavailable } from '../errors.ts'
import type { Deadline } from './deadline.ts'
import { isTooManyConnections, translate } from './errors.ts'
import type { Client, Connection } from './server.ts'

/**
 * Takes connections out of the pool of a client. If the server refuses one more, the call waits until another returns
 * its connection.
 */
export class Connections {
  readonly #client: Client
  /** How many calls have a connection, or have asked for one. */
  #open = 0
  /** How many have returned one in order. */
  #returned = 0
  /** The calls that wait until another has returned its connection. With an error, they are refused too. */
  readonly #waiting: ((refusal?: unknown) => void)[] = []

  constructor(client: Client) {
    this.#client = client
  }

  /** Runs work on a connection, which is destroyed if the call is over before the work is. */
  async with<T>(deadline: Deadline, work: (connection: Connection) => T | Promise<T>): Promise<T> {
    this.#open += 1
    let connection: Connection | undefined
    const release = (isSound: boolean): MaybePromise<void> => {
      const released = connection
      connection = undefined
      if (released !== undefined && isSound) this.#returned += 1
      return released?.release(isSound)
    }
    let removeListener: (() => void) | undefined
    try {
      const taken = await this.#take(deadline)
      connection = taken
      removeListener = deadline.onEnd(() => void release(false))
      const value = await work(taken)
      void release(true)
      return value
    } catch (error) {
      await release(!isForgeError(error, 'STORAGE_UNAVAILABLE')) // the host may end its pool next
      throw error
    } finally {
      removeListener?.()
      this.#open -= 1
      this.#waiting.shift()?.()
    }
  }

  async #take(deadline: Deadline): Promise<Connection> {
    const before = this.#returned
    let isFull = false
    const expired = (): Error => noConnection(!isFull && this.#returned > before ? ': enlarge the pool, and' : ':')
    const { expired: expiredElsewhere } = deadline
    deadline.expired = expired
    try {
      for (;;) {
        const wasAlone = this.#open === 1
        try {
          const connection = await this.#client.connect()
          if (!deadline.isOver) return connection
          connection.release(true)
        } catch (error) {
          if (!deadline.isOver) {
            if (!isTooManyConnections(error)) throw whyNone(error, expired)
            isFull = !(wasAlone && this.#open === 1)
            const refusal = isFull ? await this.#untilReturned() : error
            if (refusal !== undefined) {
              // No call of this process has a connection that it could return.
              for (const refuse of this.#waiting.splice(0)) refuse(refusal)
              throw whyNone(refusal, expired)
            }
          }
        }
        if (deadline.isOver) throw busy('call')
      }
    } finally {
      deadline.expired = expiredElsewhere
    }
  }

  /** Waits until another call has returned its connection. Returns the error with which the server refuses all of them. */
  async #untilReturned(): Promise<unknown> {
    if (this.#open === 1) return undefined // the others have just returned theirs
    this.#open -= 1
    const refusal = await new Promise<unknown>((goOn) => this.#waiting.push(goOn))
    this.#open += 1
    return refusal
  }
}

/** Returns the error for a pool that provides no connection. One that gives up by a limit of its own does not know why. */
function whyNone(error: unknown, expired: () => Error): unknown {
  const translated = translate(error, 'call')
  if (isForgeError(translated, 'STORAGE_BUSY')) return expired()
  if (isForgeError(translated) || isTypeError(translated)) return translated
  return unavailable('the pool provides no connection to the database', error)
}

function noConnection(advice: string): Error {
  const message = `no connection became free in time${advice} use withTransaction for calls inside a transaction`
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' })
}
