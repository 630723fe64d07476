import { sql } from 'kysely'
import { isForgeError } from '../../../schema/errors.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { ServerConnection } from '../server/connection.ts'

interface SampleRow {
  readonly a_number: number
  readonly a_text: string
  readonly a_time: number
}

/** A statement that every database accepts. */
const ANYTHING: Statement<unknown> = { sql: 'select 1', parameters: [], returnsRows: true }

/**
 * Reads one row to check that the database has the dialect that the host has named, since each dialect reads the clock
 * differently; and how the driver returns our columns, because Kysely has no option for that per query.
 */
export class DriverProbe {
  readonly #query: Query<Record<never, never>, SampleRow>
  #isReadable = false

  constructor({ build, dialect }: SqlContext) {
    this.#query = defineQuery(() =>
      build.selectNoFrom([
        dialect.number(sql`1`).as('a_number'),
        sql<string>`cast('a' as ${dialect.casts.text})`.as('a_text'),
        dialect.number(dialect.now).as('a_time'),
      ]),
    )
  }

  /**
   * Reads the row the first time. @throws TypeError if the database has another dialect, or if the driver returns
   * columns under other names, or numbers or texts as another type
   */
  async refuseUnreadable(connection: ServerConnection): Promise<void> {
    if (this.#isReadable) return

    const row = await this.#ask(connection)
    if (row?.a_number !== 1 || row.a_text !== 'a') {
      throw new TypeError(
        'the driver of Kysely returns columns with other names, or numbers or strings as other types: configure it so ' +
          'that it returns doubles as numbers, and strings and names unchanged',
      )
    }
    this.#isReadable = true
  }

  async #ask(connection: ServerConnection): Promise<SampleRow | undefined> {
    try {
      const [row] = await connection.all(this.#query({}))
      return row
    } catch (error) {
      if (isForgeError(error, 'STORAGE_BUSY') || !(await isThere(connection))) throw error
      throw new TypeError('the database of Kysely has another dialect: set dialect to postgres, mysql or sqlite', {
        cause: error,
      })
    }
  }
}

async function isThere(connection: ServerConnection): Promise<boolean> {
  try {
    await connection.all(ANYTHING)
    return true
  } catch {
    return false
  }
}
