/** What every version of Kysely keeps beneath a Kysely and all that comes from it; its types hide it. */
interface Insides {
  readonly adapter: unknown
  provideConnection<T>(work: (connection: unknown) => Promise<T>): Promise<T>
}

/**
 * Whether something came from another Kysely than a second thing did: `withSchema`, `withPlugin`, `transaction()` and the
 * like all hand the adapter on. False where that cannot be told.
 */
export function comesFromAnother(database: unknown, transaction: unknown): boolean {
  const [ours, theirs] = [insidesOf(database)?.adapter, insidesOf(transaction)?.adapter]
  return ours !== undefined && theirs !== undefined && ours !== theirs
}

/**
 * The connection that a Kysely is bound to, as its driver keeps it: for most the same object whenever it is handed out.
 * Undefined where that cannot be told.
 */
export async function connectionOf(bound: unknown): Promise<object | undefined> {
  const connection = await insidesOf(bound)?.provideConnection(async (found) => found)
  return typeof connection === 'object' && connection !== null ? connection : undefined
}

function insidesOf(kysely: unknown): Insides | undefined {
  if (typeof kysely !== 'object' || kysely === null) return undefined
  if (!('getExecutor' in kysely) || typeof kysely.getExecutor !== 'function') return undefined

  const insides: unknown = kysely.getExecutor()
  return isInsides(insides) ? insides : undefined
}

function isInsides(value: unknown): value is Insides {
  if (typeof value !== 'object' || value === null || !('adapter' in value)) return false
  return 'provideConnection' in value && typeof value.provideConnection === 'function'
}
