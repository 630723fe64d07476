import { command } from '../dialect.ts'
import { busy } from '../errors.ts'
import { propertyOf, saysNameIsWrong } from './answers.ts'
import { destroySocket, hasMethods, hear } from './pools.ts'
import { BEGIN } from './postgres-rules.ts'
import type { Runner, ServerConnection } from './server.ts'

/** How pg reads the columns of one query. */
export interface PgTypes {
  /** Returns the reader for values of a type, by its number in the catalogue. */
  getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown
}

/** One query, as pg accepts it. */
export interface PgQuery {
  readonly text: string
  readonly values: unknown[]
  /** The name of the prepared statement on the connection. */
  readonly name?: string | undefined
  readonly types?: PgTypes
}

/** The answer to a query. */
export interface PgAnswer {
  readonly rows: readonly unknown[]
}

/** A connection of pg, with the call that is made on it: a `Client`, or a client of a `Pool`. */
export interface PgClient {
  /** Runs one query, or several statements without values. */
  query(query: PgQuery): Promise<PgAnswer>
}

/** A client that returns to its pool, or is closed if something is wrong with it. */
export interface PgPoolClient extends PgClient {
  /** Releases it to the pool, or closes it. */
  release(destroy?: boolean): void
}

/** A pool of pg, with the calls that are made on it. */
export interface PgPool extends PgClient {
  /** Takes a client out of the pool, once one is free. */
  connect(): Promise<PgPoolClient>
}

/** Returns whether a value has the call of a client. */
export function isPgClient(value: unknown): value is PgClient {
  return hasMethods(value, 'query')
}

/** Returns whether a value has the calls of a pool. A client has them too, and also its own parsers. */
export function isPgPool(value: unknown): value is PgPool {
  return hasMethods(value, 'query', 'connect') && !('getTypeParser' in value)
}

/**
 * Returns what runs statements on a client of pg.
 *
 * @param names - of the prepared statements. None on the host's client, because the host may do anything with it
 */
export function runnerOn(client: PgClient, names?: StatementNames): Runner {
  hear(client)
  return {
    identity: client,
    isPipelining: propertyOf(client, 'pipeline') === true,
    async run({ sql, parameters, returnsRows }) {
      const name = parameters.length === 0 ? undefined : names?.of(sql)
      try {
        const answer = await client.query({ text: sql, values: [...parameters], name, types: TYPES })
        return returnsRows ? answer.rows : []
      } catch (error) {
        if (name === undefined || !saysNameIsWrong(error)) throw error
        names?.giveUp() // a proxy between the library and the server does not keep them
        throw busy('call', error)
      }
    },
  }
}

/** The number of `double precision` in the catalogue of types. */
const DOUBLE_PRECISION = 701

/** How every query reads its columns, whatever parsers the host has set for pg: our columns are texts and doubles. */
const TYPES: PgTypes = { getTypeParser: (type) => (type === DOUBLE_PRECISION ? Number : String) }

const ROLL_BACK = command('rollback')

/** Returns a client out of the pool, as the runtime uses it. */
export function pooled<C>(client: PgPoolClient, names?: StatementNames): ServerConnection<C> {
  const { identity, isPipelining, run } = runnerOn(client, names)
  const transaction: unknown = client
  return {
    identity,
    isPipelining,
    run,
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's pool, as C says; or by pg if a URL was given
    transaction: transaction as C,
    // Older versions of pg do not know whether the host left a transaction open.
    begin: () => (statusOf(client) === undefined ? [ROLL_BACK, BEGIN] : [BEGIN]),
    // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and without an error.
    commit: async () => propertyOf(await client.query({ text: 'commit', values: [] }), 'command') !== 'ROLLBACK',
    rollBack: async () => (statusOf(client) === 'I' ? [] : run(ROLL_BACK)),
    release(isSound) {
      client.release(!isSound)
      if (!isSound) destroySocket(propertyOf(client, 'connection')) // a client that is pipelining would wait for answers
    },
  }
}

/** Returns whether the host has left a transaction open on a client. */
export function isInside(client: PgClient): boolean {
  return /^[TE]$/.test(String(statusOf(client)))
}

/** Returns I for a client outside of a transaction, T or E inside of one; undefined if the version of pg does not know. */
function statusOf(client: PgClient): unknown {
  if (!('getTransactionStatus' in client) || typeof client.getTransactionStatus !== 'function') return undefined
  return client.getTransactionStatus() ?? undefined
}

/** The names of prepared statements. They follow from the text, so that all processes agree behind a proxy. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #areUsable = true

  /** Returns the name of a statement; undefined if names cannot be used. */
  of(text: string): string | undefined {
    if (!this.#areUsable) return undefined
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `forgelet_${fingerprint(text)}`
    this.#names.set(text, name)
    return name
  }

  /** Uses no names from now on. */
  giveUp(): void {
    this.#areUsable = false
  }
}

/** FNV-1a of 64 bits, over UTF-16 units. Source: http://www.isthe.com/chongo/tech/comp/fnv/ */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, '0')
}
