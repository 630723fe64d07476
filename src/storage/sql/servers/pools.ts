import { hasMethods, propertyOf } from '../../../schema/arguments.ts'
import { unavailable } from '../errors.ts'

/** The number of connections that a pool opens at most if its URL does not say another. */
const DEFAULT_SIZE = 10
const MAX_SIZE = 1000

/**
 * Returns how many connections the pool of a URL may open.
 *
 * @param parameter - the parameter of the URL that limits them, as the driver names it
 * @throws TypeError for a value that is not an integer from 1 to 1000: a driver would ignore it, or wait indefinitely
 */
export function poolSize(url: string, parameter: 'max' | 'connectionLimit'): number {
  const text = new RegExp(`[?&]${parameter}=([^&#]*)`).exec(url)?.[1]
  if (text === undefined) return DEFAULT_SIZE
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= MAX_SIZE) return size
  throw new TypeError(`${parameter} in the URL of the database must be an integer from 1 to ${MAX_SIZE}`)
}

/** A pool that the storage opens at first use, and ends. */
interface OpenedPool<P> {
  /** Uses the pool. @throws what opening it throws: another use tries again */
  use<T>(work: (pool: P) => Promise<T>): Promise<T>
  end(): Promise<void>
}

/** Returns a pool that is not opened yet. */
export function openedPool<P extends { end(): Promise<void> }>(open: () => Promise<P>): OpenedPool<P> {
  let opening: Promise<P> | undefined
  let opened: P | undefined
  const get = async (): Promise<P> => {
    try {
      opened = await open()
      return opened
    } catch (error) {
      opening = undefined
      throw error
    }
  }
  return {
    use(work) {
      if (opened !== undefined) return work(opened)
      opening ??= get()
      return opening.then(work)
    },
    end: async () => (await opening)?.end(),
  }
}

/** Returns the driver in a module that was imported. @throws ForgeError `STORAGE_UNAVAILABLE` */
export function driverIn<D>(name: DriverName, module: object, isDriver: (module: unknown) => module is D): D {
  const driver = propertyOf(module, 'default') ?? module
  if (isDriver(driver)) return driver
  throw unavailable(`the installed ${name} has no pools: ${adviceOn(name)}`)
}

/** Returns what to throw if a driver cannot be loaded. */
export function notInstalled(name: DriverName, cause: unknown): Error {
  return unavailable(`${name} is not installed: ${adviceOn(name)}`, cause)
}

type DriverName = 'pg' | 'mysql2'

function adviceOn(name: DriverName): string {
  return `npm i ${name}, or pass a pool instead of a URL`
}

/**
 * Listens for the `error` events of a connection, or of a pool and each connection that it opens, once: without a listener,
 * each of them ends the process. The work on the connection reports the loss.
 */
export function ignoreErrors(emitter: object): void {
  if (ignored.has(emitter) || !isEmitter(emitter)) return
  ignored.add(emitter)
  // The pool of the package `mariadb` wraps a connection each time it hands it out.
  if (emitter.listeners?.('error').includes(ignore) === true) return
  emitter.on('error', ignore)
  emitter.on('connect', ignoreErrors)
}

const ignored = new WeakSet<object>()

function ignore(): void {}

function isEmitter(value: unknown): value is {
  on(event: string, listener: (connection: object) => void): unknown
  listeners?(event: string): readonly unknown[]
} {
  return hasMethods(value, 'on')
}

/**
 * Destroys the socket of a connection: drivers end connections with a message, which a silent server never answers.
 *
 * @param error - what the driver's unanswered commands are rejected with; some drivers need one
 */
export function destroySocket(connection: unknown, error?: Error): void {
  const socket = propertyOf(connection, 'stream')
  if (isDestroyable(socket)) socket.destroy(error)
}

function isDestroyable(socket: unknown): socket is { destroy(error?: Error): unknown } {
  return hasMethods(socket, 'destroy')
}
