import type { Id } from '../../index.ts'
import { compileStatement, defineQuery } from '../../storage/sql/query.ts'
import type { Token } from '../fixture/seed.ts'
import type { HostDatabase } from './host-database.ts'

/** A token as it is stored. Those of a fixture have neither name nor time. */
export interface StoredToken extends Token {
  readonly name: string | undefined
  readonly createdAt: Date | undefined
}

/** The access tokens in the host's own tables. `SqlHostStore` finds the user of one. */
export class SqlTokenStore<Tx> {
  readonly #database: HostDatabase<Tx>

  constructor(database: HostDatabase<Tx>) {
    this.#database = database
  }

  async add({ digest, userId, name, createdAt }: StoredToken): Promise<void> {
    const created_at = createdAt?.getTime() ?? null
    const row = { digest, user_id: userId, name: name ?? null, created_at }
    await this.#database.rows(compileStatement(this.#database.context.build.insertInto('tokens').values(row)))
  }

  /** Returns the tokens of a user, the oldest first. */
  async of(userId: Id): Promise<readonly StoredToken[]> {
    const { build, columns, ids } = this.#database.context
    const query = defineQuery<{ readonly userId: Id }, TokenRow>((given) =>
      build
        .selectFrom('tokens')
        .select(['digest', 'name', columns.numberOrNull('created_at').as('created_at')])
        .where('user_id', '=', ids.given('user', given('userId'))),
    )
    const rows = await this.#database.rows(query({ userId }))
    return rows
      .map(({ digest, name, created_at }) => ({
        digest,
        userId,
        name: name ?? undefined,
        createdAt: created_at === null ? undefined : new Date(created_at),
      }))
      .sort((one, other) => (one.createdAt?.getTime() ?? 0) - (other.createdAt?.getTime() ?? 0))
  }

  async remove(digest: string): Promise<void> {
    const { build } = this.#database.context
    await this.#database.rows(compileStatement(build.deleteFrom('tokens').where('digest', '=', digest)))
  }
}

interface TokenRow {
  readonly digest: string
  readonly name: string | null
  readonly created_at: number | null
}
