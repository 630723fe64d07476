/** A promise, and the way to fulfil it. */
export function deferred<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let fulfil: (value: T) => void = () => undefined
  const promise = new Promise<T>((resolve) => {
    fulfil = resolve
  })
  return { promise, resolve: (value) => fulfil(value) }
}

/** Returns what resolves once so many have called it; who calls it later does not wait. */
export function meeting(count: number): () => Promise<void> {
  const { promise, resolve } = deferred()
  let arrived = 0
  return () => {
    arrived += 1
    if (arrived === count) resolve()
    return promise
  }
}
