import type { SyncOrAsync } from '../../../../src/schema/sync-or-async.ts'
import { wait } from '../../../../src/schema/sync-or-async.ts'
import type { SqlContext } from '../../../../src/storage/sql/context.ts'
import { command } from '../../../../src/storage/sql/dialect.ts'
import type { Statement } from '../../../../src/storage/sql/query.ts'
import { NO_DEADLINE } from '../../../../src/storage/sql/server/call-deadline.ts'
import type { ServerTransaction } from '../../../../src/storage/sql/server/connection.ts'
import { DatabaseServer } from '../../../../src/storage/sql/server/database-server.ts'
import type { Session } from '../../../../src/storage/sql/session.ts'
import type { HeadKey } from '../../../../src/storage/sql/stores/locks.ts'
import { Heads } from '../../../../src/storage/sql/stores/locks.ts'
import { pinBoardQueries } from '../../../../src/storage/sql/stores/pin-boards.ts'
import { turns } from '../../../../src/testing/testing.ts'
import type { SqlFault } from '../sql-fault.ts'
import { asItIs, concerns, headIn, intercepted, inWrites, pretended } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'
import { redecided } from '../storage-fault.ts'

/** Decides on what it read before it waited. */
export const decidesBeforeItLocks: StorageFault = ({ pinBoards, ...storage }) => ({
  ...storage,
  pinBoards: {
    ...pinBoards,
    async update(key, change) {
      const rows = await pinBoards.load(key, change.transaction)
      await turns(1)
      return pinBoards.update(
        key,
        redecided(change, (decide) => () => decide(rows, change.by.at())),
      )
    },
  },
})

/** Locks a head that is there, and nothing when it is missing: it is made when the change is written. */
export const locksNoMissingHead: SqlFault = inWrites((context) => {
  const missing = new Map<string, Statement<unknown>>()

  return function* (session, statement) {
    if (concerns(statement, '^insert into', 'heads')) {
      const rows = yield* lockedIfThere(context, session, statement)
      if (rows.length > 0) return pretended(...rows)

      missing.set(nameOf(headIn(statement.parameters, 'first')), statement)
      return pretended({ epoch: 0, retired: 0, total: 0, next_seq: 1 })
    }
    if (concerns(statement, '^update', 'heads')) {
      const insert = missing.get(nameOf(headIn(statement.parameters, 'last')))
      if (insert !== undefined) yield* asItIs(session, insert)
    }
    return yield* asItIs(session, statement)
  }
})

/** Loads a board in the statement that locks it, and so as it was when that began to wait. */
export const loadsAsItLocks: SqlFault = inWrites((context) => {
  const { load } = pinBoardQueries(context)
  let loaded: readonly unknown[] | undefined

  return function* (session, statement) {
    if (concerns(statement, '^insert into', 'heads') && statement.parameters[0] === 'issueBoard') {
      const repositoryId = headIn(statement.parameters, 'first').key
      loaded = yield* asItIs(session, { ...load({ repositoryId, kind: 'issue' }), asWritten: true })
    }
    if (loaded !== undefined && concerns(statement, '^select .* from', 'board_pins')) return pretended(...loaded)
    return yield* asItIs(session, statement)
  }
})

/** Locks heads and never writes them: a transaction that reads from a snapshot does not notice. */
export const writesNoHead: SqlFault = inWrites((context) => {
  return function* (session, statement) {
    if (concerns(statement, '^insert into', 'heads')) {
      const rows = yield* lockedIfThere(context, session, statement)
      if (rows.length > 0) return pretended(...rows)
    }
    if (concerns(statement, '^update', 'heads') && headIn(statement.parameters, 'last').scope === 'issueBoard')
      return []
    return yield* asItIs(session, statement)
  }
})

/** Behind the lock, reads what its transaction saw when it began. */
export const readsBehindTheLockFromTheSnapshot: SqlFault = { dialect: (dialect) => ({ ...dialect, lockingRead: '' }) }

/** Waits for locks as long as it takes. */
export const waitsForEver: SqlFault = { server: (parts) => new EndlesslyWaitingServer(parts) }

class EndlesslyWaitingServer<Tx extends object> extends DatabaseServer<Tx> {
  override inTransaction<T>(work: (transaction: ServerTransaction<Tx>) => Promise<T>): Promise<T> {
    return super.inTransaction(work, { ...NO_DEADLINE, lockWait: 60_000 })
  }
}

/** Locks an organization before the user it blocks. */
export const locksInTheOtherOrder: SqlFault = lockingUsersOfBlocks(function* (context, session, user) {
  yield* new Heads(context).lock(session, user)
})

/** Looks whether a user is there before blocking it, and does not keep it from going. */
export const locksNoUserOfABlock: SqlFault = lockingUsersOfBlocks(function* () {
  // nothing more than the look
})

/** Locks the board of an issue, and not the issue. */
export const locksNoIssue: SqlFault = inWrites(() => {
  return function* (session, statement) {
    const isIssue = concerns(statement, '^insert into', 'heads') && statement.parameters[0] === 'issue'
    return isIssue ? pretended({ epoch: 0, retired: 0, total: 0, next_seq: 1 }) : yield* asItIs(session, statement)
  }
})

/** Locks no head of imports. */
export const locksNoImports: SqlFault = inWrites(() => {
  return function* (session, statement) {
    const isImports = concerns(statement, '^insert into', 'heads') && statement.parameters[0] === 'issueImports'
    return isImports ? pretended({ epoch: 0, retired: 0, total: 0, next_seq: 1 }) : yield* asItIs(session, statement)
  }
})

/** Locks an issue that is deleted before the boards it is on. */
export const locksIssuesFirst: SqlFault = inWrites((context) => {
  return function* (session, statement) {
    if (looksForHolders(statement, 'board_pins')) {
      yield* new Heads(context).lock(session, { scope: 'issue', key: String(statement.parameters[0]) })
    }
    return yield* asItIs(session, statement)
  }
})

/** Locks the blocks and pins of what is deleted as it looks for their organizations and boards. */
export const locksRowsFirst: SqlFault = inWrites(() => {
  return function* (session, statement) {
    const locks = looksForHolders(statement, 'board_pins') || looksForHolders(statement, 'organization_blocks')
    if (!locks || statement.asWritten !== true) return yield* asItIs(session, statement)
    return yield* asItIs(session, { ...statement, sql: `${statement.sql} for update` })
  }
})

/** Locks the boards of an issue as it looks for them, for every other issue from the last to the first. */
export const locksBoardsInAnyOrder: SqlFault = inWrites((context) => {
  return function* (session, statement) {
    const rows = yield* asItIs(session, statement)
    if (!looksForHolders(statement, 'board_pins')) return rows

    const keys = rows.map((row) => String(Reflect.get(Object(row), 'repositoryId'))).toSorted()
    const inOrder = Number(statement.parameters[0]) % 2 === 0 ? keys.toReversed() : keys
    for (const key of inOrder) yield* new Heads(context).lock(session, { scope: 'issueBoard', key })
    return rows
  }
})

/** Locks issues for every other board from the last to the first. */
export const locksIssuesInAnyOrder: SqlFault = inWrites((context) => {
  const postponed: HeadKey[] = []
  let board = 0

  return function* (session, statement) {
    const head = concerns(statement, '^insert into', 'heads') ? headIn(statement.parameters, 'first') : undefined
    if (head?.scope === 'issueBoard') board = Number(head.key)
    if (head?.scope === 'issue') {
      postponed.push(head)
      return pretended({ epoch: 0, retired: 0, total: 0, next_seq: 1 })
    }
    const issues = postponed.splice(0)
    for (const issue of board % 2 === 0 ? issues : issues.toReversed()) yield* new Heads(context).lock(session, issue)
    return yield* asItIs(session, statement)
  }
})

/** Looks once for the organizations and boards of what is deleted, before anything is locked. */
export const looksOnce: SqlFault = inWrites(() => {
  let found: readonly unknown[] | undefined

  return function* (session, statement) {
    const looks = looksForHolders(statement, 'board_pins') || looksForHolders(statement, 'organization_blocks')
    if (!looks) return yield* asItIs(session, statement)
    if (found !== undefined) return pretended(...found)

    const rows = yield* asItIs(session, statement)
    found = rows
    return rows
  }
})

/** Whether a deletion looks for who has its thing: the boards of an issue, or the organizations that block a user. */
function looksForHolders(statement: Statement<unknown>, table: 'board_pins' | 'organization_blocks'): boolean {
  const thing = table === 'board_pins' ? 'issue_id' : 'user_id'
  return concerns(statement, '^select .* from', table) && new RegExp(`where .?${thing}.? = `).test(statement.sql)
}

/**
 * Only reads the head of a user, and locks it behind the next statement or, where that locks an organization, as `late`
 * has it.
 */
function lockingUsersOfBlocks(
  late: (context: SqlContext, session: Session, user: HeadKey) => SyncOrAsync<void>,
): SqlFault {
  return inWrites((context) => {
    let user: HeadKey | undefined

    return function* (session, statement) {
      const head = concerns(statement, '^insert into', 'heads') ? headIn(statement.parameters, 'first') : undefined
      if (head?.scope === 'user') {
        user = head
        const { epoch, retired, total, nextSeq } = yield* wait(new Heads(context).find(session, head))
        return pretended({ epoch, retired: Number(retired), total, next_seq: nextSeq })
      }
      const rest = user
      user = undefined
      if (rest !== undefined && head?.scope !== 'organization') yield* new Heads(context).lock(session, rest)
      const rows = yield* asItIs(session, statement)
      if (rest !== undefined && head?.scope === 'organization') yield* late(context, session, rest)
      return rows
    }
  })
}

/** Locks a head, if it is there, and gives its row. */
function* lockedIfThere(
  context: SqlContext,
  session: Session,
  { parameters }: Statement<unknown>,
): SyncOrAsync<readonly unknown[]> {
  let found: readonly unknown[] = []
  const locking = intercepted(session, function* (inner, statement) {
    const rows = yield* asItIs(inner, { ...statement, sql: `${statement.sql} for update`, asWritten: true })
    found = rows
    return rows
  })
  yield* wait(new Heads(context).find(locking, headIn(parameters, 'first')))
  return found
}

function nameOf({ scope, key }: HeadKey): string {
  return `${scope} ${key}`
}

/** Removes badges that users hold: no foreign key prevents it. */
export const refersWithoutKeys: SqlFault = {
  afterMigration: ({ schema, prefix }) => [
    command(
      `alter table ${schema === undefined ? '' : `"${schema}".`}${prefix}user_grants ` +
        `drop constraint if exists ${prefix}user_grants_badge`,
    ),
  ],
}
