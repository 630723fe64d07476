/** Collects the warnings of Node about emitters with too many listeners, from now until the test finishes. */
export function listenerWarnings(onFinished: (stop: () => void) => void): () => Promise<readonly string[]> {
  const found: string[] = []
  const collect = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') found.push(warning.message)
  }
  process.on('warning', collect)
  onFinished(() => void process.off('warning', collect))
  return async () => {
    await new Promise((resolve) => setImmediate(resolve)) // Node reports warnings in the next tick
    return found
  }
}
