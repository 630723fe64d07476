import { sql } from 'kysely'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { Asking } from '../session.ts'
import type { SqlContext } from '../sql-context.ts'

interface SampleRow {
  readonly a_number: number
  readonly a_text: string
}

/** One row that is asked for to see how the host's driver gives our columns; Kysely takes no word on that with a query. */
export class Sample {
  readonly #query: Query<Record<never, never>, SampleRow>
  #isReadable = false

  constructor({ build, dialect }: SqlContext) {
    this.#query = defineQuery(() =>
      build.selectNoFrom([
        dialect.number(sql`1`).as('a_number'),
        sql<string>`cast('a' as ${dialect.casts.text})`.as('a_text'),
      ]),
    )
  }

  /** @throws TypeError when columns come under other names, or numbers or texts as something else; asks the first time */
  async refuseUnreadable(connection: Asking): Promise<void> {
    if (this.#isReadable) return

    const [row] = await connection.all(this.#query({}))
    if (row?.a_number !== 1 || row.a_text !== 'a') {
      throw new TypeError(
        'the driver under Kysely gives columns under other names, or numbers or texts as something else: set it up so ' +
          'that it gives doubles as numbers, and texts and names as they are',
      )
    }
    this.#isReadable = true
  }
}
