import type { ForgeStorage } from '../../contract/storage.ts'
import type { AggregateStores } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import type { SqlRuntime } from '../session.ts'
import { sqlBadgeCatalogue } from './badge-catalogue.ts'
import { sqlBlocks } from './blocks.ts'
import { EventLog } from './event-log.ts'
import { sqlEvents } from './events.ts'
import { sqlIssueImports } from './issue-imports.ts'
import { Heads } from './locks.ts'
import { sqlPinBoards } from './pin-boards.ts'
import { sqlRetirement } from './retirement.ts'
import { sqlUserBadges } from './user-badges.ts'

/** The part of a storage that is the same for every SQL database. */
export type SqlStores<Tx> = AggregateStores<Tx> & Pick<ForgeStorage<Tx>, 'events' | 'retire'>

/** Creates the stores of an SQL storage on the connections that it uses. */
export function createSqlStores<Tx>(context: SqlContext, runtime: SqlRuntime<Tx>): SqlStores<Tx> {
  const parts = { context, runtime, heads: new Heads(context), log: new EventLog(context) }
  const [pinBoards, blocks, userBadges] = [sqlPinBoards(parts), sqlBlocks(parts), sqlUserBadges(parts)]

  return {
    pinBoards: pinBoards.store,
    blocks: blocks.store,
    userBadges: userBadges.store,
    badgeCatalogue: sqlBadgeCatalogue(parts),
    issueImports: sqlIssueImports(parts),
    events: sqlEvents(parts),
    retire: sqlRetirement(parts, {
      repository: pinBoards.repository,
      issue: pinBoards.issue,
      organization: blocks.organization,
      *user(session, { userId }) {
        const [head] = (yield* parts.heads.lock(session, [parts.heads.of('user', userId)], [])).heads
        if (head === undefined || head.retired) return undefined

        const { removed, heads } = yield* blocks.ofUser(session, userId)
        const grants = yield* userBadges.ofUser(session, userId)
        return { removed: { grants, ...removed }, retired: [head], ...(heads && { heads }) }
      },
    }),
  }
}
