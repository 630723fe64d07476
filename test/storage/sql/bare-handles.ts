import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { SqliteHandle } from '../../../src/storage/sqlite.ts'
import { newFile } from './database-files.ts'

/** One use of a prepared statement. */
export interface Asked {
  readonly sql: string
  readonly by: 'all' | 'get' | 'run'
  readonly parameters: readonly unknown[]
}

/**
 * A handle on a new file that has the seam and nothing else, and makes others of its kind.
 *
 * @param listen - is called with every use of a statement before it runs; what it throws, the statement throws
 * @param answered - is called with the rows that a statement returned
 */
export function bareHandle(
  listen: (asked: Asked) => void,
  answered: (asked: Asked, rows: readonly unknown[]) => void = () => undefined,
): SqliteHandle {
  class BareHandle implements SqliteHandle {
    readonly #database: Database.Database

    constructor(file: string) {
      this.#database = new Database(file, { timeout: 0 })
    }

    prepare(sql: string): ReturnType<SqliteHandle['prepare']> {
      const statement = this.#database.prepare(sql)
      return {
        all(...parameters) {
          const asked: Asked = { sql, by: 'all', parameters }
          listen(asked)
          const rows = statement.all(...parameters)
          answered(asked, rows)
          return rows
        },
        get(...parameters) {
          const asked: Asked = { sql, by: 'get', parameters }
          listen(asked)
          const row = statement.get(...parameters)
          answered(asked, row === undefined ? [] : [row])
          return row
        },
        run(...parameters) {
          listen({ sql, by: 'run', parameters })
          statement.run(...parameters) // what a driver returns here is withheld: no code may depend on it
        },
      }
    }

    exec(sql: string): void {
      this.#database.exec(sql)
    }

    close(): void {
      this.#database.close()
    }
  }

  const handle = new BareHandle(newFile())
  onTestFinished(() => handle.close())
  return handle
}
