import type { Id } from '../../../schema/ids.ts'
import type { ForgeEvent, HostThing } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { Removed, Retired, Retirement } from '../../contract/storage.ts'
import type { SqlContext } from '../context.ts'
import type { Query } from '../query.ts'
import { defineQuery } from '../query.ts'
import type { HeadScope } from '../schema/tables.ts'
import type { Session } from '../session.ts'
import { queryFirst } from '../session.ts'
import type { StoreParts } from './aggregate.ts'
import type { Head, HeadKey, Heads } from './locks.ts'
import { PinBoards } from './pin-boards.ts'
import type { Removal, Removals, SqlStore } from './removals.ts'

const NOTHING: Removed = { pins: 0, blocks: 0, grants: 0 }

/** Creates the retirements of an SQL storage. */
export function sqlRetirement<Tx>(
  parts: StoreParts<Tx>,
  stores: readonly Pick<SqlStore<unknown>, 'removals'>[],
): (retirement: Retirement<Tx>) => MaybePromise<readonly ForgeEvent[]> {
  const { runtime, log } = parts
  const things = new Things(
    parts,
    stores.map(({ removals }) => removals),
  )

  return (theirs) => {
    const retirement = { ...theirs, retired: { ...theirs.retired } } // a copy: the caller may modify it while it waits
    return runtime.write((session, open) => retire(session, retirement, open), retirement)
  }

  function* retire(session: Session, retirement: Retirement<Tx>, open: Tx): SyncOrAsync<readonly ForgeEvent[]> {
    const removed = yield* things.retire(session, retirement.retired)
    if (removed === undefined) return []

    const { by, record } = retirement
    const events = yield* log.append(session, [record(removed)], { actorId: by.actorId, at: by.at() })
    yield* log.show(session, events, retirement, open)
    return events
  }
}

/** Retires the things of the host. Each method returns undefined if the thing was already retired. */
class Things {
  readonly #context: SqlContext
  readonly #heads: Heads
  readonly #stores: readonly Removals[]
  readonly #boards: PinBoards
  readonly #entomb: Query<IssueKey, IssueKey>

  constructor({ context, heads }: Pick<StoreParts<unknown>, 'context' | 'heads'>, stores: readonly Removals[]) {
    this.#context = context
    this.#heads = heads
    this.#stores = stores
    this.#boards = new PinBoards(context, heads)
    this.#entomb = entombQuery(context)
  }

  retire(session: Session, retired: Retired): SyncOrAsync<Removed | undefined> {
    switch (retired.thing) {
      case 'user':
        return this.#user(session, retired)
      case 'organization':
        return this.#organization(session, retired)
      case 'repository':
        return this.#repository(session, retired)
      case 'issue':
        return this.#issue(session, retired)
      default:
        return retired satisfies never
    }
  }

  *#user(session: Session, retired: RetiredAs<'user'>): SyncOrAsync<Removed | undefined> {
    const head = yield* this.#heads.lock(session, this.#head('user', 'user', retired.userId))
    if (head.retired) return undefined

    return yield* this.#remove(session, ({ user }) => user(session, retired, head), [head])
  }

  *#organization(session: Session, retired: RetiredAs<'organization'>): SyncOrAsync<Removed | undefined> {
    const key = this.#head('organization', 'organization', retired.organizationId)
    const head = yield* this.#heads.lock(session, key)
    if (head.retired) return undefined

    return yield* this.#remove(session, ({ organization }) => organization(session, retired, head), [head])
  }

  *#repository(session: Session, retired: RetiredAs<'repository'>): SyncOrAsync<Removed | undefined> {
    const scopes: readonly HeadScope[] = ['issueBoard', 'pullRequestBoard', 'issueImports']
    const keys = scopes.map((scope) => this.#head(scope, 'repository', retired.repositoryId))
    const { heads } = yield* this.#heads.lockEach(session, keys, [])
    const boards = heads.filter(({ scope }) => scope !== 'issueImports')
    if (boards.every((head) => head.retired)) return undefined // also by an older library, which knows no imports

    return yield* this.#remove(session, ({ repository }) => repository(session, retired, boards), heads)
  }

  *#issue(session: Session, retired: RetiredAs<'issue'>): SyncOrAsync<Removed | undefined> {
    const { issueId } = retired
    const boards = yield* this.#boards.lockIssue(session, retired, issueId)
    const tombstone = yield* queryFirst(session, this.#entomb({ issueId }))
    if (tombstone === undefined) return undefined

    return yield* this.#remove(session, ({ issue }) => issue(session, retired, boards), [])
  }

  /**
   * Removes the rows of a thing from every store, and saves the heads behind all of that: a statement that grows with the
   * data is sent alone, so heads between two of them would cost a round trip.
   */
  *#remove(
    session: Session,
    removalOf: (removals: Removals) => SyncOrAsync<Removal>,
    own: readonly Head[],
  ): SyncOrAsync<Removed> {
    const parts: Removal[] = []
    for (const store of this.#stores) parts.push(yield* removalOf(store))
    for (const { heads = [] } of parts) for (const head of heads) yield* this.#heads.save(session, head)
    for (const head of own) yield* this.#heads.save(session, { ...head, total: 0, retired: true })
    return Object.assign({ ...NOTHING }, ...parts.map(({ removed }) => removed))
  }

  #head(scope: HeadScope, kind: HostThing, id: Id): HeadKey {
    return { scope, key: this.#context.ids.fitting(kind, id) }
  }
}

/** What was retired, of one kind. */
type RetiredAs<T extends Retired['thing']> = Extract<Retired, { readonly thing: T }>

/** Identifies one issue. */
interface IssueKey {
  readonly issueId: Id
}

/** Returns a row the first time only. */
function entombQuery({ build, ids, dialect, columns }: SqlContext): Query<IssueKey, IssueKey> {
  return defineQuery((given) => {
    const tombstone = { issue_id: ids.given('issue', given('issueId')) }
    return dialect
      .skipExisting(build.insertInto('issue_tombstones').values(tombstone))
      .returning(columns.id('issue_id').as('issueId'))
  })
}
