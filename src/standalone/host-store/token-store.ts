import { runAsync } from '../../schema/sync-or-async.ts'
import { compileStatement } from '../../storage/sql/query.ts'
import type { HostDatabase } from './host-database.ts'
import { Inserts, RowWriter } from './row-writer.ts'
import type { Row } from './tables.ts'
import { columnsOf } from './tables.ts'

/** The access tokens in the host's own tables. `HostDirectory` finds the user of one. */
export class TokenStore<Tx> {
  readonly #database: HostDatabase<Tx>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
  }

  add(token: Row<'tokens'>): Promise<void> {
    const writer = new RowWriter(new Inserts(this.#database.context), (statement) => this.#database.rows(statement))
    return runAsync(writer.insert('tokens', [token]))
  }

  /** Returns the tokens of a user, the oldest first. */
  async of(userId: number): Promise<readonly Row<'tokens'>[]> {
    const { context } = this.#database
    const tokens = context.build.selectFrom('tokens').select(columnsOf(context, 'tokens'))
    const rows = await this.#database.rows(compileStatement(tokens.where('user_id', '=', userId)))
    return rows.toSorted((one, other) => (one.created_at ?? 0) - (other.created_at ?? 0))
  }

  async remove(digest: string): Promise<void> {
    const { build } = this.#database.context
    await this.#database.rows(compileStatement(build.deleteFrom('tokens').where('digest', '=', digest)))
  }
}
