import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { PgClient, PgPool, PgPoolClient, PgQuery } from '../src/storage/postgres.ts'
import { deferred } from './deferred.ts'

/** Starts a PostgreSQL in this process: a pool over its one connection. */
export async function startPglite(): Promise<PglitePool> {
  return new PglitePool(await start())
}

/** Who has the one connection keeps it for all of a transaction: two whose statements took turns would be in one. */
export class PglitePool implements PgPool {
  readonly #database: PGlite
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: PGlite) {
    this.#database = database
  }

  async connect(): Promise<PgPoolClient> {
    const before = this.#last
    const { promise, resolve } = deferred()
    this.#last = promise
    await before
    return { query: (query) => this.#run(query), release: () => resolve() }
  }

  async query(query: PgQuery): ReturnType<PgClient['query']> {
    const client = await this.connect()
    try {
      return await client.query(query)
    } finally {
      client.release()
    }
  }

  end(): Promise<void> {
    return this.#database.close()
  }

  async #run({ text, values }: PgQuery): ReturnType<PgClient['query']> {
    if (values.length > 0) return this.#database.query(text, values)

    const results = await this.#database.exec(text)
    return { rows: results.at(-1)?.rows ?? [] }
  }
}

/**
 * From a data directory that an earlier start has left: to make one costs most of a start, seconds of computing, which
 * become minutes on a busy machine.
 */
async function start(): Promise<PGlite> {
  const { version } = JSON.parse(readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8'))
  const file = join('node_modules/.cache/forgelet', `pglite-${version}.tar`)
  if (existsSync(file)) return PGlite.create({ loadDataDir: new Blob([readFileSync(file)]) })

  const database = await PGlite.create()
  const data = await database.dumpDataDir('none')
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(unfinished, new Uint8Array(await data.arrayBuffer()))
  renameSync(unfinished, file) // another process may write the same file
  return database
}
