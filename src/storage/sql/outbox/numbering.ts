import type { Id } from '../../../schema/ids.ts'
import type { Steps } from '../../../schema/steps.ts'
import type { SqlDialect } from '../dialect.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { ask, tell } from '../session.ts'
import type { SqlContext } from '../sql-context.ts'
import type { OutboxRow } from './outbox-row.ts'

/** Events that are numbered in one transaction, at most. */
const MOST = 1000

interface Numbered {
  readonly ids: readonly Id[]
  readonly last: number
}

/**
 * Gives committed events their positions, where ids are not in order of commit. All of a transaction come into sight
 * together with it, and one transaction numbers at a time: so positions grow in order of commit, without gaps.
 */
export class Numbering {
  readonly #row: OutboxRow
  readonly #unnumbered: Query<{ readonly limit: number }, { readonly id: Id }>
  readonly #number: Query<Numbered, unknown>

  constructor(context: SqlContext, row: OutboxRow, numberEvents: NonNullable<SqlDialect['numberEvents']>) {
    this.#row = row
    this.#unnumbered = unnumberedQuery(context)
    this.#number = defineQuery((given) =>
      numberEvents(context.build, {
        ids: given('ids').as((ids) => JSON.stringify(ids)),
        last: given('last'),
      }),
    )
  }

  /** Whether an event is committed and has no position yet. */
  *isDue(session: Session): Steps<boolean> {
    const [first] = yield* ask(session, this.#unnumbered({ limit: 1 }))
    return first !== undefined
  }

  /** Numbers the oldest, in order of id, in a transaction of its own; nothing while another does. */
  *run(session: Session): Steps<void> {
    const state = yield* this.#row.lockUnlessLocked(session)
    if (state === undefined) return

    const rows = yield* ask(session, this.#unnumbered({ limit: MOST }))
    if (rows.length === 0) return
    yield* tell(session, this.#number({ ids: rows.map((row) => row.id), last: state.last }))
    yield* this.#row.save(session, { ...state, last: state.last + rows.length })
  }
}

/** A locking read would wait for every open transaction that has written an event. */
function unnumberedQuery({ build, columns }: SqlContext): Query<{ readonly limit: number }, { readonly id: Id }> {
  return asWritten(
    defineQuery((given) =>
      build
        .selectFrom('events')
        .select(columns.id('events.id').as('id'))
        .where('position', 'is', null)
        .orderBy('events.id')
        .limit(given('limit')),
    ),
  )
}
