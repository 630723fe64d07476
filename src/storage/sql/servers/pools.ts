import { createRequire } from 'node:module'
import { unavailable } from '../errors.ts'

/** The number of connections that a pool opens at most if its URL does not say another. */
const DEFAULT_SIZE = 10
const MAX_SIZE = 1000

/** How long the server has to close the connections of an ended pool, in milliseconds. */
const MAX_FAREWELL_MS = 1000

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

/** Loads the driver that is installed beside the application. @throws ForgeError `STORAGE_UNAVAILABLE` */
export function driver(name: 'pg' | 'mysql2/promise'): unknown {
  const require = createRequire(import.meta.url)
  try {
    return require(name)
  } catch (error) {
    const [installed] = name.split('/')
    throw unavailable(`${installed} is not installed: npm i ${installed}, or pass a pool instead of a URL`, error)
  }
}

/** Returns whether a value has these methods. */
export function hasMethods(value: unknown, ...names: readonly string[]): value is object {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof Reflect.get(value, name) === 'function')
}

/** What emits events: a pool, a connection or a socket. */
interface Emitter {
  on(event: string, listener: (...values: unknown[]) => void): unknown
  off(event: string, listener: (...values: unknown[]) => void): unknown
  once(event: string, listener: () => void): unknown
  listeners(event: string): readonly unknown[]
}

/** Returns whether a value emits events. */
export function isEmitter(value: unknown): value is Emitter {
  return hasMethods(value, 'on', 'off', 'once', 'listeners')
}

/**
 * Listens for the `error` events of a connection, once: without a listener, each of them ends the process. The work on
 * the connection reports the loss.
 */
export function hear(connection: unknown): void {
  if (isEmitter(connection) && !connection.listeners('error').includes(ignore)) connection.on('error', ignore)
}

/** The listener that does nothing. */
export function ignore(): void {}

/**
 * Destroys the socket of a driver: drivers end connections with a message, which a silent server never answers.
 *
 * @param error - what the driver's unanswered commands are rejected with; some drivers need one
 */
export function destroySocket(socket: unknown, error?: Error): void {
  if (typeof socket !== 'object' || socket === null || !('destroy' in socket)) return
  if (typeof socket.destroy === 'function') socket.destroy(error)
}

/**
 * The sockets of a pool that the storage opened. It ensures that none keeps the process alive after the pool was ended.
 */
export class OwnSockets {
  readonly #sockets = new Set<unknown>()

  /** Keeps the socket of a new connection until it is closed. */
  add(socket: unknown): void {
    if (!isEmitter(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Destroys, after one second, the sockets that the server has not closed by then. */
  destroyLater(): void {
    if (this.#sockets.size === 0) return
    setTimeout(() => {
      for (const socket of this.#sockets) destroySocket(socket)
    }, MAX_FAREWELL_MS).unref()
  }
}
