import { sql } from 'kysely'
import { isForgeError } from '../../../schema/errors.ts'
import type { SqlContext } from '../context.ts'
import type { Query, Statement } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Queryable } from '../session.ts'

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
  async refuseUnreadable(connection: Queryable): Promise<void> {
    if (this.#isReadable) return

    const row = await this.#ask(connection)
    if (row?.a_number !== 1 || row.a_text !== 'a') {
      throw new TypeError(
        'the driver under Kysely gives columns under other names, or numbers or texts as something else: set it up so ' +
          'that it gives doubles as numbers, and texts and names as they are',
      )
    }
    this.#isReadable = true
  }

  async #ask(connection: Queryable): Promise<SampleRow | undefined> {
    try {
      const [row] = await connection.all(this.#query({}))
      return row
    } catch (error) {
      if (isForgeError(error, 'STORAGE_BUSY') || !(await isThere(connection))) throw error
      throw new TypeError('the database under Kysely is of another dialect: name its own, postgres, mysql or sqlite', {
        cause: error,
      })
    }
  }
}

async function isThere(connection: Queryable): Promise<boolean> {
  try {
    await connection.all(ANYTHING)
    return true
  } catch {
    return false
  }
}
