import type pg from 'pg'

/** Hears every statement that clients of a pool are given from now on; what it answers with is waited for before. */
export function watch(pool: pg.Pool, hear: (text: string) => Promise<void> | void): void {
  pool.on('connect', (client) => watchClient(client, hear))
}

/** Hears every statement that a client is given from now on. */
export function watchClient(client: pg.ClientBase, hear: (text: string) => Promise<void> | void): void {
  const query: unknown = Reflect.get(client, 'query')
  if (typeof query !== 'function') throw new TypeError('a client has queries')

  Reflect.set(client, 'query', async (...values: unknown[]) => {
    await hear(textOf(values[0]))
    return Reflect.apply(query, client, values)
  })
}

/** Counts the transactions that are begun on a pool from now on. */
export function countBegins(pool: pg.Pool): () => number {
  let count = 0
  watch(pool, (text) => {
    if (text.startsWith('begin')) count += 1
  })
  return () => count
}

function textOf(query: unknown): string {
  if (typeof query === 'object' && query !== null && 'text' in query) return String(query.text)
  return String(query)
}
