/**
 * Receives every statement that a connection of pg or mysql2 is given from now on. What the listener returns is waited for
 * before the statement is sent.
 */
export function watch(connection: object, listen: (text: string) => unknown): void {
  for (const name of ['query', 'execute']) {
    const send: unknown = Reflect.get(connection, name)
    if (typeof send !== 'function') continue

    Reflect.set(connection, name, (...sent: readonly unknown[]) => {
      const received = listen(textOf(sent[0]))
      if (!(received instanceof Promise)) return Reflect.apply(send, connection, sent)

      // A command of mysql2 that is called back refuses to be waited for.
      const isCalledBack = typeof sent.at(-1) === 'function'
      return received.then(() => {
        const answer: unknown = Reflect.apply(send, connection, sent)
        return isCalledBack ? undefined : answer
      })
    })
  }
}

/** Returns a listener that does something before the first statement like this, and only then. */
export function beforeFirst(pattern: RegExp, act: () => Promise<unknown>): (text: string) => Promise<void> {
  let isOver = false
  return async (text) => {
    if (isOver || !pattern.test(text)) return
    isOver = true
    await act()
  }
}

function textOf(query: unknown): string {
  if (typeof query !== 'object' || query === null) return String(query)
  return 'text' in query ? String(query.text) : String(Reflect.get(query, 'sql'))
}
