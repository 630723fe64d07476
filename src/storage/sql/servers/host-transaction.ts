import { isForgeError } from '../../../schema/errors.ts'
import type { SqlValue } from '../query.ts'

/**
 * An open transaction of the host in any library, for `withTransaction` on PostgreSQL or MariaDB. The host's
 * `beforeCommit` receives the same object.
 */
export interface HostTransaction {
  /** The connection or the transaction of the library. Calls with the same one take turns. */
  readonly identity: object
  /**
   * Runs one statement in the transaction, and returns its rows as objects; an empty list if it returns none.
   * @param sql - with the places of the database: `$1` on PostgreSQL, `?` on MariaDB
   * @throws the error of the driver, or an error that has it as `cause`
   */
  run(sql: string, parameters: readonly SqlValue[]): Promise<readonly unknown[]>
}

/** Returns whether a value is a transaction of another library. */
export function isHostTransaction(value: object): value is HostTransaction {
  return 'run' in value && typeof value.run === 'function' && 'identity' in value && typeof value.identity === 'object'
}

/** The properties in which libraries keep the error of the driver: the first is standard, the others are Prisma's. */
const BENEATH = ['cause', 'meta', 'driverAdapterError', 'originalError'] as const

/** Returns an error and those that it wraps, from the outside to the inside. One of ours wraps nothing here. */
export function layersOf(error: unknown): readonly object[] {
  const layers: object[] = typeof error === 'object' && error !== null ? [error] : []
  for (const layer of layers) {
    if (isForgeError(layer)) continue
    for (const name of BENEATH) {
      const inner: unknown = Reflect.get(layer, name)
      if (typeof inner === 'object' && inner !== null && !layers.includes(inner)) layers.push(inner)
    }
  }
  return layers
}
