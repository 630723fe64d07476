/** A pool or a client: an `error` event without a listener ends the process. */
interface Emitter {
  on(event: 'error' | 'acquire', listener: (client?: unknown) => void): unknown
  off(event: 'error' | 'acquire', listener: (client?: unknown) => void): unknown
}

/**
 * Marks the `acquire` listener of every storage, so that a pool gets only one, even from another copy of this module.
 */
const MARK = Symbol.for('forgelet.acquire')

const NOTHING = (): void => undefined

/**
 * Listens for `error` events of pools and clients, so that a lost connection does not end the process: the work on the
 * connection reports the loss. A client has one listener at a time, however many operations share it.
 */
export class ErrorListeners {
  readonly #uses = new WeakMap<object, number>()
  readonly #ignore = (): void => undefined
  readonly #listenForOneTurn = Object.assign((client: unknown): void => void setImmediate(this.listen(client)), {
    [MARK]: true,
  })

  /** Listens until the returned function is called. */
  listen(source: unknown): () => void {
    if (!isEmitter(source)) return NOTHING

    const uses = this.#uses.get(source) ?? 0
    if (uses === 0) source.on('error', this.#ignore)
    this.#uses.set(source, uses + 1)
    return () => this.#stop(source)
  }

  /**
   * Listens to every client that a pool hands out, for one turn of the event loop. By then the pool has stopped
   * listening, its user has not begun to listen, and the loss of a client may arrive in the same packet as its
   * readiness. Does nothing on a pool where another storage does the same. Returns a function that stops it.
   */
  listenOnAcquire(pool: unknown): () => void {
    if (!isEmitter(pool) || hasMark(pool)) return NOTHING

    pool.on('acquire', this.#listenForOneTurn)
    return () => void pool.off('acquire', this.#listenForOneTurn)
  }

  #stop(source: Emitter): void {
    const uses = this.#uses.get(source) ?? 0
    this.#uses.set(source, uses - 1)
    if (uses === 1) source.off('error', this.#ignore)
  }
}

/** Returns whether an emitter has no listener for its `error` events. */
export function isUnheard(source: unknown): boolean {
  if (!isEmitter(source) || !('listenerCount' in source) || typeof source.listenerCount !== 'function') return false
  return source.listenerCount('error') === 0
}

function hasMark(pool: Emitter): boolean {
  if (!('listeners' in pool) || typeof pool.listeners !== 'function') return false

  const listeners: unknown = pool.listeners('acquire')
  return Array.isArray(listeners) && listeners.some((listener) => typeof listener === 'function' && MARK in listener)
}

function isEmitter(value: unknown): value is Emitter {
  if (typeof value !== 'object' || value === null || !('on' in value) || !('off' in value)) return false
  return typeof value.on === 'function' && typeof value.off === 'function'
}
