import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import { busy, unavailable } from '../errors.ts'
import { saysAborted, saysFull, saysRefused, translate } from './answers.ts'
import type { TimedCall } from './call.ts'
import type { Server, ServerConnection } from './server.ts'

/**
 * Takes connections out of the pool of a server. If the server refuses one more, the call waits until another returns
 * its connection.
 */
export class Connections<Tx> {
  readonly #connect: Server<Tx>['connect']
  /** How many calls have a connection, or have asked for one. */
  #open = 0
  /** How many have returned one in order. */
  #returned = 0
  readonly #waiting: (() => void)[] = []

  constructor(connect: Server<Tx>['connect']) {
    this.#connect = connect
  }

  /** Runs work on a connection, which is destroyed if the call is over before the work is. */
  async with<T>(call: TimedCall, work: (connection: ServerConnection<Tx>) => T | Promise<T>): Promise<T> {
    this.#open += 1
    try {
      const connection = await this.#take(call)
      let isOut = true
      const release = (isSound: boolean): void => {
        if (!isOut) return
        isOut = false
        connection.release(isSound)
        if (isSound) this.#returned += 1
      }
      call.onInterrupt = () => release(false)
      try {
        const value = await work(connection)
        release(true)
        return value
      } catch (error) {
        release(!isForgeError(error, 'STORAGE_UNAVAILABLE'))
        throw error
      }
    } finally {
      this.#open -= 1
      this.#waiting.shift()?.()
    }
  }

  async #take(call: TimedCall): Promise<ServerConnection<Tx>> {
    const { expired } = call
    const before = this.#returned
    call.expired = () => noConnection(this.#returned > before ? ': enlarge the pool, and' : ':')
    for (;;) {
      const wasAlone = this.#open === 1
      try {
        const connection = await this.#connect()
        if (!call.isOver) {
          call.expired = expired
          return connection
        }
        connection.release(true)
      } catch (error) {
        if (!call.isOver) await this.#refused(call, error, wasAlone)
      }
      if (call.isOver) throw busy('call')
    }
  }

  /** Returns when the call can ask again. Throws why there is no connection. */
  async #refused(call: TimedCall, error: unknown, wasAlone: boolean): Promise<void> {
    if (saysFull(error) && !(wasAlone && this.#open === 1)) {
      call.expired = () => noConnection(':')
      if (this.#open === 1) return // the others have just returned theirs
      this.#open -= 1
      await new Promise<void>((goOn) => this.#waiting.push(goOn))
      this.#open += 1
      return
    }
    const translated = translate(error, 'call')
    // A pool that gives up by a limit of its own does not know why.
    if (isForgeError(translated, 'STORAGE_BUSY')) throw call.expired()
    throw isForgeError(translated) || translated instanceof TypeError
      ? translated
      : unavailable('the pool provides no connection to the database', error)
  }
}

function noConnection(advice: string): Error {
  const message = `no connection became free in time${advice} use withTransaction for calls inside a transaction`
  return new ForgeError('STORAGE_BUSY', message, { retry: 'call' })
}

/**
 * Runs work between BEGIN and COMMIT on a connection out of the pool. The work sends the BEGIN, or whatever is behind it.
 *
 * @throws the error of the work, after ROLLBACK; ForgeError `STORAGE_UNAVAILABLE` if the connection is lost, with the
 * outcome `unknown` if that was while committing; the error of the driver if the server refused the COMMIT; TypeError if a
 * failed statement went unnoticed
 */
export async function commitAfter<T>(
  call: TimedCall,
  connection: ServerConnection<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const value = await work().catch(async (error: unknown) => {
    if (!call.isOver) {
      call.shorten()
      const failure = await failureOf(connection.rollBack())
      // A node of a cluster that has rolled back by itself says so to the next statement, also to ROLLBACK.
      if (saysAborted(failure)) throw busy('call', failure)
      if (failure !== undefined && !isForgeError(error, 'STORAGE_UNAVAILABLE')) {
        throw unavailable('the connection was lost', error)
      }
    }
    throw error
  })
  if (!(await call.commit(() => commit(connection)))) throw new TypeError(ROLLED_BACK)
  return value
}

async function commit(connection: ServerConnection<unknown>): Promise<boolean> {
  try {
    return await connection.commit()
  } catch (error) {
    if (saysRefused(error)) throw error
    throw unavailable('the connection was lost while committing: the change may be committed', error, 'unknown')
  }
}

const ROLLED_BACK =
  'a statement of the transaction failed, and its error was caught or not waited for: nothing is committed'

/** Returns whether work has not failed. */
export async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return (await failureOf(work)) === undefined
}

/** Returns the error of work that has failed, and undefined otherwise. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error ?? new Error('failed without an error'),
  )
}
