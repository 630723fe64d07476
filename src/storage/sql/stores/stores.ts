import type { ForgeStorage } from '../../contract/storage.ts'
import type { AggregateStores } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import { hostPorts } from '../host/ports.ts'
import { References } from '../host/references.ts'
import type { SqlRuntime } from '../session.ts'
import { sqlBadgeCatalogue } from './badge-catalogue.ts'
import { sqlBlocks } from './blocks.ts'
import { EventLog } from './event-log.ts'
import { sqlEvents } from './events.ts'
import { onGround } from './ground.ts'
import { Heads } from './heads.ts'
import { sqlIssueImports } from './issue-imports.ts'
import { sqlPinBoards } from './pin-boards.ts'
import { sqlRetirement } from './retirement.ts'
import { sqlUserBadges } from './user-badges.ts'

/** Creates the part of a storage that is the same for every SQL database, on the connections that it uses. */
export function createSqlStores<Tx>(
  context: SqlContext,
  runtime: SqlRuntime<Tx>,
): AggregateStores<Tx> & Pick<ForgeStorage<Tx>, 'events' | 'retire' | 'host'> {
  const references = new References(context)
  const parts = { context, runtime, heads: new Heads(context, references), references, log: new EventLog(context) }
  const [pinBoards, blocks, userBadges] = [sqlPinBoards(parts), sqlBlocks(parts), sqlUserBadges(parts)]

  return {
    ...onGround(context, runtime),
    pinBoards: pinBoards.store,
    blocks: blocks.blocks,
    userBlocks: blocks.userBlocks,
    userBadges: userBadges.store,
    badgeCatalogue: sqlBadgeCatalogue(parts),
    issueImports: sqlIssueImports(parts),
    events: sqlEvents(parts),
    host: hostPorts(context, runtime),
    retire: sqlRetirement(parts, {
      repository: pinBoards.repository,
      issue: pinBoards.issue,
      organization: blocks.organization,
      *user(session, { userId }) {
        const [head] = (yield* parts.heads.lock(session, [parts.heads.of('user', userId)], [])).heads
        if (head === undefined || head.retired) return undefined

        const { removed, retired, heads } = yield* blocks.ofUser(session, userId)
        const grants = yield* userBadges.ofUser(session, userId)
        return { removed: { grants, ...removed }, retired: [head, ...retired], heads }
      },
    }),
  }
}
