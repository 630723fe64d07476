/** Waits for a promise that others share, but no longer than the signal allows: then it rejects with `signal.reason`. */
export function unlessAborted<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared

  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    const stop = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort, { once: true })
    shared.then(resolve, reject).finally(stop)
  })
}
