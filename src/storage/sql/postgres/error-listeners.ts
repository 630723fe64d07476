/** What tells of a lost server with an event: unheard, that would end the process. */
interface Emitter {
  on(event: 'error', listener: () => void): unknown
  off(event: 'error', listener: () => void): unknown
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

/** Whether nobody hears the `error` events of something that has such. */
export function isUnheard(source: unknown): boolean {
  if (!isEmitter(source) || !('listenerCount' in source) || typeof source.listenerCount !== 'function') return false
  return source.listenerCount('error') === 0
}

function isEmitter(value: unknown): value is Emitter {
  if (typeof value !== 'object' || value === null || !('on' in value) || !('off' in value)) return false
  return typeof value.on === 'function' && typeof value.off === 'function'
}
