import type { ForgeEvent } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Removed, Retired, Retirement } from '../../contract/storage.ts'
import type { Statement } from '../query.ts'
import type { Session } from '../session.ts'
import type { StoreParts } from './aggregate.ts'
import type { Head } from './heads.ts'

/** What is removed with one thing of the host. Its heads are locked. */
export interface Removal {
  /** How many rows. A count that is left out is 0. */
  readonly removed: Partial<Removed>
  /** What still removes rows. */
  readonly statements?: readonly Statement<unknown>[]
  /** The heads of the thing: they stay, retired. */
  readonly retired?: readonly Head[]
  /** Other heads to save. */
  readonly heads?: readonly Head[]
}

/** How things of the host are removed. Each returns undefined if the thing was already retired. */
export type Removals<T extends Retired['thing'] = Retired['thing']> = {
  readonly [K in T]: (session: Session, retired: Extract<Retired, { thing: K }>) => SyncOrAsync<Removal | undefined>
}

/** Creates the retirements of an SQL storage. */
export function sqlRetirement<Tx>(
  { runtime, heads, log }: StoreParts<Tx>,
  removals: Removals,
): (retirement: Retirement<Tx>) => MaybePromise<readonly ForgeEvent[]> {
  function remove(session: Session, retired: Retired): SyncOrAsync<Removal | undefined> {
    if (retired.thing === 'user') return removals.user(session, retired)
    if (retired.thing === 'organization') return removals.organization(session, retired)
    if (retired.thing === 'repository') return removals.repository(session, retired)
    return removals.issue(session, retired)
  }

  function* retire(session: Session, retirement: Retirement<Tx>, open: Tx): SyncOrAsync<readonly ForgeEvent[]> {
    const removal = yield* remove(session, retirement.retired)
    if (removal === undefined) return []

    const { removed, statements = [], retired = [], heads: others = [] } = removal
    const saved = [...others, ...retired.map((head): Head => ({ ...head, total: 0, retired: true }))]
    const written = {
      statements: [...statements, ...saved.map(heads.saving)],
      drafts: [retirement.record({ pins: 0, blocks: 0, grants: 0, ...removed })],
      at: retirement.by.at(),
    }
    return yield* log.write(session, written, retirement, open)
  }

  return (theirs) => {
    const retirement = { ...theirs, retired: { ...theirs.retired } } // a copy: the caller may modify it while it waits
    return runtime.write((session, open) => retire(session, retirement, open), retirement)
  }
}
