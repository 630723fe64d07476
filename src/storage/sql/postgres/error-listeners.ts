/** What tells of a lost server with an event: unheard, that would end the process. */
interface Emitter {
  on(event: 'error' | 'acquire', listener: (client?: unknown) => void): unknown
  off(event: 'error' | 'acquire', listener: (client?: unknown) => void): unknown
}

/**
 * Hears `error` events of a pool or a client, so that they do not end the process: who has work on the connection is told
 * by that. Gives back what stops it.
 */
export function hearErrors(source: unknown): () => void {
  if (!isEmitter(source)) return () => undefined

  const ignore = (): void => undefined
  source.on('error', ignore)
  return () => void source.off('error', ignore)
}

/**
 * Hears the errors of every client that a pool gives, for one turn of the event loop: the pool has stopped hearing it by
 * then, whoever waits for it has not begun, and its loss may be told in the same piece as its readiness. Gives back what
 * stops it.
 */
export function hearGivenClients(pool: unknown): () => void {
  if (!isEmitter(pool)) return () => undefined

  pool.on('acquire', hearForOneTurn)
  return () => void pool.off('acquire', hearForOneTurn)
}

/** Whether the clients that a pool gives are heard already, by whichever storage on it. */
export function hearsGivenClients(pool: unknown): boolean {
  if (!isEmitter(pool) || !('listeners' in pool) || typeof pool.listeners !== 'function') return false
  return pool.listeners('acquire').includes(hearForOneTurn)
}

function hearForOneTurn(client: unknown): void {
  setTimeout(hearErrors(client), 0)
}

/** Whether nobody hears the `error` events of something that has such. */
export function isUnheard(source: unknown): boolean {
  if (!isEmitter(source) || !('listenerCount' in source) || typeof source.listenerCount !== 'function') return false
  return source.listenerCount('error') === 0
}

function isEmitter(value: unknown): value is Emitter {
  if (typeof value !== 'object' || value === null || !('on' in value) || !('off' in value)) return false
  return typeof value.on === 'function' && typeof value.off === 'function'
}
