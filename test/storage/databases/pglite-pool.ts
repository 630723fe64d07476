import type { PGlite } from '@electric-sql/pglite'
import type { PgClient, PgPool, PgPoolClient, PgQuery } from '../../../src/storage/postgres.ts'

/**
 * A pool over the one connection of a PostgreSQL in this process. Who has it keeps it for all of a transaction: two whose
 * statements took turns would be in one.
 */
export class PglitePool implements PgPool {
  readonly #database: Promise<PGlite>
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: Promise<PGlite>) {
    this.#database = database
  }

  async connect(): Promise<PgPoolClient> {
    const before = this.#last
    let release = (): void => undefined
    this.#last = new Promise<void>((resolve) => {
      release = resolve
    })
    await before
    return { query: (query) => this.#run(query), release: () => release() }
  }

  async query(query: PgQuery): ReturnType<PgClient['query']> {
    const client = await this.connect()
    try {
      return await client.query(query)
    } finally {
      client.release()
    }
  }

  async #run({ text, values }: PgQuery): ReturnType<PgClient['query']> {
    const database = await this.#database
    if (values.length > 0) return database.query(text, values)

    const results = await database.exec(text)
    return { rows: results.at(-1)?.rows ?? [] }
  }
}
