import type { Id, IdInput } from '../../schema/ids.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { CallContext, OpenTransaction, Tracker } from '../call.ts'
import { withSubject } from '../change.ts'
import type { Actor } from '../ports.ts'
import type { NamedPeople } from './import-report.ts'
import { NameCounts } from './import-report.ts'
import type { Attribution, NamedPerson } from './issue-tracker.ts'
import { findAccounts } from './look-up.ts'
import type { BatchJob, PlannedBatch } from './write-batch.ts'
import { eventLoopTurns, writeBatch } from './write-batch.ts'

/** Whose names get an account, and in which repository. */
export interface ReattributeRequest {
  readonly repositoryId: IdInput
  /**
   * Maps names in the repository, as an export has them, to names on this host. Null: the person has no account here,
   * which is the same as to leave the name out.
   */
  readonly people: { readonly [name: string]: string | null }
}

/** How much got an account: issues of authors, assignments, comments of authors, and reactions. */
export type AttributionCounts = { readonly [Part in NamedPerson['part']]: number }

/** What a reattribution did for one name. */
export interface ReattributedPerson extends AttributionCounts {
  /** The name in the repository. */
  readonly name: string
  /** How often the repository has the name, with an account or without one. 0: nowhere. */
  readonly named: number
  /** Whether the name still has no account: it was mapped to null, or to a name that no one on this host has. */
  readonly remains: boolean
}

/** What a reattribution did. After a repetition all counts are 0, besides `named`. */
export interface ReattributeReport {
  /** The names that were mapped, in their order. */
  readonly people: readonly ReattributedPerson[]
  /** The names that have no account. */
  readonly remaining: NamedPeople
}

/** Whole issues with their comments: enough to be fast, few enough for a transaction of five seconds. */
const BATCH_ISSUES = 100

/** One reattribution, after the policy allowed it. */
interface ReattributionJob extends BatchJob {
  readonly tracker: Tracker
  readonly attribution: Attribution<Actor, OpenTransaction>
  /** Names in the repository, and names on this host. */
  readonly people: ReadonlyMap<string, string | null>
}

/** Whom a batch names, and the accounts that those without one get. */
interface Planned {
  readonly named: readonly NamedPerson[]
  readonly accounts: ReadonlyMap<string, Id>
}

/** Goes through the issues of a repository, and gives accounts to the names that have none, batch by batch. */
export function* runReattribution(job: ReattributionJob): SyncOrAsync<ReattributeReport> {
  const { scope, call, people } = job
  const turn = eventLoopTurns(scope)
  const counts = new Map([...people.keys()].map((name) => [name, { named: 0, ...countsOf([]) }]))
  const remaining = new NameCounts()
  for (let after = 0; ; ) {
    call.signal?.throwIfAborted()
    const { named, accounts } = yield* writeBatch(job, (context) => planOf(job, after, context))
    if (named.length === 0) break

    let last = after
    for (const { number, name, part, hasAccount } of named) {
      if (number <= after || number < last) {
        throw new TypeError('issues.attribution.named must return ascending numbers above `after`')
      }
      last = number
      const person = counts.get(name)
      if (person !== undefined) person.named += 1
      if (hasAccount) continue
      if (accounts.has(name) && person !== undefined) person[part] += 1
      else if (name !== '') remaining.add(name)
    }
    after = last
    yield* turn()
  }
  return {
    people: [...counts].map(([name, count]) => ({ name, ...count, remains: remaining.has(name) })),
    remaining: remaining.list(),
  }
}

function* planOf(
  { tracker, attribution, repositoryId, people }: ReattributionJob,
  after: number,
  context: CallContext,
): SyncOrAsync<PlannedBatch<Planned>> {
  const named = yield* wait(attribution.named({ repositoryId, after, limit: BATCH_ISSUES }, context))
  const without = named.filter(({ hasAccount }) => !hasAccount)
  const names = new Set(without.map(({ name }) => name))
  const mapped = [...people].flatMap(([name, as]) => (as !== null && names.has(name) ? [{ name, as }] : []))
  const users = mapped.map(({ as: name }) => ({ id: undefined, name, email: undefined }))
  const ids = yield* findAccounts({ tracker, context, answer: wait }, users)
  const accounts = new Map<string, Id>()
  for (const [at, { name }] of mapped.entries()) {
    const id = ids[at] ?? null
    if (id !== null) accounts.set(name, id)
  }
  const changed = without.filter(({ name }) => accounts.has(name))
  const numbers = [...new Set(changed.map(({ number }) => number))]
  const event = withSubject({ repositoryId }, { type: 'issues.reattributed', data: countsOf(changed) })
  return {
    plan: { named, accounts },
    event: changed.length === 0 ? undefined : event,
    write: () => attribution.attribute({ repositoryId, numbers, accounts }, context),
  }
}

function countsOf(people: readonly NamedPerson[]): { [Part in NamedPerson['part']]: number } {
  const counts = { issues: 0, assignees: 0, comments: 0, reactions: 0 }
  for (const { part } of people) counts[part] += 1
  return counts
}
