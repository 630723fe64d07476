import type { Id } from '../../schema/ids.ts'
import type { Grant } from '../../schema/records.ts'
import type { Steps } from '../../schema/steps.ts'
import type { BadgeCaseKey, BadgeCaseState, BadgeCaseStore } from '../contract/badge-case-store.ts'
import type { Difference, SqlAggregate } from './aggregate.ts'
import { aggregateStore } from './aggregate.ts'
import type { BadgeCaseQueries, StoredGrant } from './badge-case-queries.ts'
import { badgeCaseQueries } from './badge-case-queries.ts'
import type { Head, HeadKey, Heads } from './heads.ts'
import { refuseRetired } from './heads.ts'
import type { Session } from './session.ts'
import { ask, tell } from './session.ts'
import type { SqlContext } from './sql-context.ts'
import type { StoreParts } from './store-parts.ts'

/** The badge cases of an SQL storage. */
export function sqlBadgeCases<Tx>(parts: StoreParts<Tx>): BadgeCaseStore<Tx> {
  const { context, runtime, heads } = parts
  const cases = new BadgeCases(context, heads)

  return {
    ...aggregateStore(parts, cases),
    heldBy: (userId, transaction) => runtime.read((session) => cases.heldBy(session, userId), transaction),
  }
}

/** The badge cases as aggregates: one head per user. */
export class BadgeCases implements SqlAggregate<BadgeCaseKey, BadgeCaseState> {
  readonly #context: SqlContext
  readonly #heads: Heads
  readonly #queries: BadgeCaseQueries

  constructor(context: SqlContext, heads: Heads) {
    this.#context = context
    this.#heads = heads
    this.#queries = badgeCaseQueries(context)
  }

  own({ userId, slugs }: BadgeCaseKey): BadgeCaseKey {
    return { userId, slugs: [...slugs] }
  }

  head({ userId }: { readonly userId: Id }): HeadKey {
    return { scope: 'user', key: this.#context.ids.fitting('user', userId) }
  }

  *lock(session: Session, key: BadgeCaseKey): Steps<Head> {
    const head = yield* this.#heads.lock(session, this.head(key))
    refuseRetired(head, 'user')
    return head
  }

  *load(session: Session, key: BadgeCaseKey): Steps<BadgeCaseState> {
    const known = yield* ask(session, this.#queries.known(key))
    const held = yield* ask(session, this.#queries.held(key))
    return { known: known.map((badge) => ({ ...badge })), held: held.map(toGrant) }
  }

  /** All grants for a reader. A retired user holds none, so only one who holds none is asked about. */
  *heldBy(session: Session, userId: Id): Steps<readonly Grant[]> {
    const rows = yield* ask(session, this.#queries.heldBy({ userId }))
    if (rows.length === 0) refuseRetired(yield* this.#heads.find(session, this.head({ userId })), 'user')
    return rows.map(toGrant)
  }

  *write(session: Session, { userId }: BadgeCaseKey, { before, after, head }: Difference<BadgeCaseState>): Steps<Head> {
    for (const { badge } of missingFrom(after.held, before.held)) {
      yield* tell(session, this.#queries.remove({ userId, badgeId: badge.id }))
    }
    let seq = head.nextSeq
    for (const { badge, grantedAt, grantedBy } of missingFrom(before.held, after.held)) {
      yield* tell(session, this.#queries.insert({ userId, badgeId: badge.id, seq, grantedAt, grantedBy }))
      seq += 1
    }
    return { ...head, nextSeq: seq }
  }
}

/** Those of the grants that are not among others. */
function missingFrom(others: readonly Grant[], grants: readonly Grant[]): readonly Grant[] {
  const present = new Set(others.map(({ badge }) => badge.id))
  return grants.filter(({ badge }) => !present.has(badge.id))
}

function toGrant({ grantedAt, grantedBy, ...badge }: StoredGrant): Grant {
  return { badge, grantedAt: new Date(grantedAt), grantedBy }
}
