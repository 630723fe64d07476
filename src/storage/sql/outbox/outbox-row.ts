import { ForgeError } from '../../../schema/errors.ts'
import type { Steps } from '../../../schema/steps.ts'
import type { Query } from '../query.ts'
import { asWritten, defineQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { askFirst, tell } from '../session.ts'
import type { SqlContext } from '../sql-context.ts'

/** How far the outbox is numbered, and from where on it is there. */
export interface OutboxState {
  /** The last position that was given; 0 where ids are the positions. */
  readonly last: number
  /** The place of the last event that was removed: reading begins behind it. */
  readonly floor: number
}

type Nothing = Record<never, never>

/** The one row of the outbox: whoever numbers events, or moves the floor, locks it. */
export class OutboxRow {
  readonly #find: Query<Nothing, OutboxState>
  readonly #findUnlocked: Query<Nothing, OutboxState>
  readonly #lock: Query<Nothing, unknown>
  readonly #save: Query<OutboxState, unknown>

  constructor(context: SqlContext) {
    this.#find = findQuery(context)
    this.#findUnlocked = findUnlockedQuery(context)
    this.#lock = lockQuery(context)
    this.#save = saveQuery(context)
  }

  /** The row as it is. @throws ForgeError `STORAGE_UNAVAILABLE` when somebody has removed it */
  *read(session: Session): Steps<OutboxState> {
    const row = yield* askFirst(session, this.#find({}))
    if (row !== undefined) return row
    throw new ForgeError('STORAGE_UNAVAILABLE', 'the outbox has lost its row', { outcome: 'nothing-done' })
  }

  /** Locks the row until the end of the transaction. */
  *lock(session: Session): Steps<OutboxState> {
    yield* tell(session, this.#lock({}))
    return yield* this.read(session)
  }

  /** Locks the row, or gives undefined at once when another has locked it. Only where ids are not the positions. */
  *lockUnlessLocked(session: Session): Steps<OutboxState | undefined> {
    return yield* askFirst(session, this.#findUnlocked({}))
  }

  /** Writes the row, which is locked. */
  *save(session: Session, state: OutboxState): Steps<void> {
    yield* tell(session, this.#save(state))
  }
}

function stateColumns({ columns }: SqlContext) {
  return [columns.number('last_position').as('last'), columns.number('floor').as('floor')] as const
}

function findQuery(context: SqlContext): Query<Nothing, OutboxState> {
  return defineQuery(() => context.build.selectFrom('outbox').select(stateColumns(context)))
}

function findUnlockedQuery(context: SqlContext): Query<Nothing, OutboxState> {
  const query = context.build.selectFrom('outbox').select(stateColumns(context))
  return asWritten(defineQuery(() => query.forUpdate().skipLocked()))
}

/** Writing a column as it is locks the row in every database. */
function lockQuery({ build }: SqlContext): Query<Nothing, unknown> {
  return defineQuery(() => build.updateTable('outbox').set((row) => ({ floor: row.ref('floor') })))
}

function saveQuery({ build }: SqlContext): Query<OutboxState, unknown> {
  return defineQuery((given) =>
    build.updateTable('outbox').set({ last_position: given('last'), floor: given('floor') }),
  )
}
