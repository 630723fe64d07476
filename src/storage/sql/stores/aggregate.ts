import type { Decision, EventDraft, ForgeEvent } from '../../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { wait } from '../../../schema/sync-or-async.ts'
import type { AggregateStore, Change, ChangeCircumstances, ChangeDecision, Outcome } from '../../contract/stores.ts'
import type { SqlContext } from '../context.ts'
import { BrokenReference } from '../errors.ts'
import type { References, Referred } from '../host/references.ts'
import type { Statement } from '../query.ts'
import type { AtOnceSession, RowsOfEach, Session, SqlRuntime, Statements } from '../session.ts'
import { query } from '../session.ts'
import type { EventLog, Logged } from './event-log.ts'
import type { Head, HeadKey, Heads, LoadedHeads } from './heads.ts'

/** What every store is built from. */
export interface StoreParts<Tx> {
  readonly context: SqlContext
  readonly runtime: SqlRuntime<Tx>
  readonly heads: Heads
  readonly references: References
  readonly log: EventLog
}

/** One kind of aggregate: what a change locks, loads and writes. It runs nothing itself. `Rows` are what it loads. */
export interface SqlAggregate<Key, State, Rows extends readonly unknown[]> {
  /** Returns a copy of the key: a change waits for its turn, and the caller may modify its own key meanwhile. */
  own(key: Key): Key
  /** Returns the heads that a change locks, in the global order of locks. The last is that of the key. */
  locks(key: Key): readonly HeadKey[]
  /** Returns the rows of the host without which no change of the key is possible. */
  refers(key: Key): readonly Referred[]
  /** Returns whether what was loaded shows that they exist. */
  shows(rows: RowsOfEach<Rows>): boolean
  /** Returns the statements that load the state. They run behind the locks. */
  loading(key: Key): Statements<Rows>
  /** Whether what they load may change while the version of the head does not. */
  readonly readsBehindLocks?: boolean
  /** Returns the state that was loaded. */
  state(key: Key, rows: RowsOfEach<Rows>, head: Head): State
  /** Returns what writes the differences between two states. */
  writing(key: Key, states: Difference<State, Rows>): Writing
}

/** The state of an aggregate before and after a change. */
export interface Difference<State, Rows extends readonly unknown[]> {
  readonly before: State
  readonly after: State
  readonly head: Head
  /** What was loaded. */
  readonly rows: RowsOfEach<Rows>
}

/** What writes a change. It is sent together with the events. */
export interface Writing {
  readonly statements: readonly Statement<unknown>[]
  /** The head to save. */
  readonly head: Head
  /** The rows of the host to which added rows refer, besides the actor. Undefined if no row is added. */
  readonly refers?: (() => readonly Referred[]) | undefined
  /** Checks the rows of each statement. @throws ForgeError `*_NOT_FOUND` if something may not be added */
  readonly verify?: (rows: readonly (readonly unknown[])[]) => void
  /** Whether the statements write a row more than once. Default: false. */
  readonly writesTwice?: boolean
}

/** The statements that write one row of a list. */
interface RowStatements<R> {
  insert(added: R): Statement<unknown>
  update(changed: R, before: R): Statement<unknown>
  remove(before: R): Statement<unknown>
}

/** Returns what writes one row of a list that the head counts: added at the end, changed where it is, or removed. */
export function listWriting<R>(
  head: Head,
  before: R | undefined,
  after: R | undefined,
  { insert, update, remove }: RowStatements<R>,
  refers?: () => readonly Referred[],
): Writing {
  const { total, nextSeq } = head
  if (before === undefined) {
    return after === undefined
      ? { statements: [], head }
      : { statements: [insert(after)], head: { ...head, total: total + 1, nextSeq: nextSeq + 1 }, refers }
  }
  if (after === undefined) return { statements: [remove(before)], head: { ...head, total: total - 1 } }
  return { statements: after === before ? [] : [update(after, before)], head }
}

/** Creates the calls that all aggregates have in common. */
export function aggregateStore<Key, State, Rows extends readonly unknown[], Tx>(
  parts: StoreParts<Tx>,
  aggregate: SqlAggregate<Key, State, Rows>,
): AggregateStore<Key, State, Tx> {
  const { runtime } = parts

  return {
    update(theirs, change) {
      const key = aggregate.own(theirs)
      const needsLocks = aggregate.readsBehindLocks === true || change.beforeCommit !== undefined
      return runtime.write(
        (session, open) => applyChange(parts, aggregate, { session, key, change }, open),
        change,
        needsLocks || change.prepare !== undefined
          ? undefined
          : (session) => applyAtOnce(parts, aggregate, { session, key, change }),
      )
    },
  }
}

/** One attempt at a change. */
interface Attempt<S extends Session, Key, C> {
  readonly session: S
  readonly key: Key
  readonly change: C
}

/** How a decision is made: by the rule, or by the host's code, which returns the rule. */
type Deciding<State, Result> =
  | { readonly prepare?: undefined; readonly decide: ChangeDecision<State, Result> }
  | { readonly prepare: (before: State) => MaybePromise<ChangeDecision<State, Result>> }

/** What a change writes, and what it returns. */
interface Decided<Result> {
  readonly writing: Writing
  readonly drafts: readonly EventDraft[]
  readonly at: Date
  readonly result: Result
  /** Whether there is nothing to write. */
  readonly isNothing: boolean
  /** The rows of the host to which added rows refer. */
  readonly refers: readonly Referred[]
}

/**
 * Makes one attempt at a change: locks first and then loads; decides; writes all or nothing with the events. It is not defined
 * inside `update`: V8 would keep each generator function, and the change with it, until a full garbage collection.
 */
function* applyChange<Key, State, Rows extends readonly unknown[], Result, Tx>(
  parts: StoreParts<Tx>,
  aggregate: SqlAggregate<Key, State, Rows>,
  attempt: Attempt<Session, Key, Change<State, Result, Tx>>,
  open: Tx,
): SyncOrAsync<Outcome<Result>> {
  const { heads, references, log } = parts
  const { session, key, change } = attempt
  const locked = yield* heads.lock(session, aggregate.locks(key), aggregate.loading(key))
  const { prepare } = change
  const deciding: Deciding<State, Result> =
    prepare === undefined ? change : { prepare: (before) => session.runHostCode(() => prepare(before, open)) }
  const decided = yield* decideOn(parts, aggregate, attempt, locked, deciding)
  const { writing, drafts, at, result, isNothing, refers } = decided
  if (isNothing) return { result, events: [] }

  const statements = [...writing.statements, heads.saving(writing.head)]
  // One statement for rows, besides those that lock heads, does not depend on others.
  const isIndependent = writing.statements.filter(({ takesLock }) => takesLock !== true).length < 2
  // A change that adds no row may wait for the host too: for one that the host removes.
  const sending = { givesWay: references.areKept, independentFrom: isIndependent ? 0 : statements.length }
  const logged = { statements, verify: writing.verify, drafts, at, sending }
  if (refers.length === 0) return { result, events: yield* log.write(session, logged, change, open) }
  return { result, events: yield* writeReferring(parts, refers, logged, attempt, open) }
}

/**
 * Makes a change without a lock: reads, decides, and writes by one statement, which fails if the head was written meanwhile, or if
 * something that a statement needs is missing. Returns undefined if nothing was written. Source: docs/storage.md, section 1.
 */
function* applyAtOnce<Key, State, Rows extends readonly unknown[], Result, Tx>(
  parts: StoreParts<Tx>,
  aggregate: SqlAggregate<Key, State, Rows>,
  attempt: Attempt<AtOnceSession, Key, ChangeCircumstances<Tx> & { readonly decide: ChangeDecision<State, Result> }>,
): SyncOrAsync<Outcome<Result> | undefined> {
  const { heads, references, log } = parts
  const { session, key, change } = attempt
  const keys = aggregate.locks(key)
  const read = yield* heads.read(session, keys, aggregate.loading(key))
  if (read === undefined) return undefined
  const { writing, drafts, at, result, isNothing, refers } = yield* decideOn(parts, aggregate, attempt, read, change)
  if (isNothing) return { result, events: [] }
  const { writesTwice = false } = writing
  if (writesTwice || writing.statements.some(({ mayTakeLong }) => mayTakeLong === true)) return undefined

  const statements = [
    ...keys.slice(0, -1).map(heads.locking),
    heads.savingUnchanged(writing.head),
    ...(refers.length === 0 ? [] : references.locking(refers, change.by.actorId)),
    ...writing.statements.map((one) => (isAnswered(one) ? { ...one, needs: one.needs ?? 'true' } : one)),
  ]
  const events = yield* log.writeAtOnce(session, { statements, drafts, at }, change.by.actorId)
  return events && { result, events }
}

/** Decides on what was loaded. @throws ForgeError `*_NOT_FOUND` if something does not exist, or what the rule throws */
function* decideOn<Key, State, Rows extends readonly unknown[], Result, Tx>(
  { heads, references }: StoreParts<Tx>,
  aggregate: SqlAggregate<Key, State, Rows>,
  { session, key, change }: Attempt<Session, Key, ChangeCircumstances<Tx>>,
  { heads: loaded, rows }: LoadedHeads<Rows>,
  deciding: Deciding<State, Result>,
): SyncOrAsync<Decided<Result>> {
  for (const head of loaded) heads.refuseRetired(head)
  const head = loaded.at(-1)
  if (head === undefined) throw new Error('a change locks at least one head')
  const unseen = references.isEmpty || aggregate.shows(rows) ? NONE : references.known(aggregate.refers(key))
  const isUnseen = unseen.length > 0
  if (isUnseen && deciding.prepare !== undefined) yield* refuseMissing(session, references, unseen)
  const before = aggregate.state(key, rows, head)
  const decide = deciding.prepare === undefined ? deciding.decide : yield* wait(deciding.prepare(before))
  const at = change.by.at()
  let decision: Decision<State, Result, EventDraft>
  try {
    decision = decide(before, at)
  } catch (error) {
    // What does not exist comes before what a rule says of it.
    if (isUnseen) yield* refuseMissing(session, references, unseen)
    throw error
  }
  const { state: after, events: drafts, result } = decision
  const isSame = after === before
  const writing: Writing = isSame ? { statements: [], head } : aggregate.writing(key, { before, after, head, rows })
  if (isUnseen && writing.refers === undefined) yield* refuseMissing(session, references, unseen)
  const refers = references.isEmpty || writing.refers === undefined ? NONE : references.known(writing.refers())
  return { writing, drafts, at, result, isNothing: isSame && drafts.length === 0, refers }
}

/** Writes rows that refer to rows of the host, which it locks before where foreign keys do not suffice. */
function* writeReferring<Key, State, Result, Tx>(
  { references, log }: StoreParts<Tx>,
  refers: readonly Referred[],
  { statements, verify, sending, ...others }: Logged,
  { session, change }: Attempt<Session, Key, Change<State, Result, Tx>>,
  open: Tx,
): SyncOrAsync<readonly ForgeEvent[]> {
  const locks = references.locking(refers, change.by.actorId)
  const logged: Logged = {
    statements: [...locks, ...statements],
    verify(rows) {
      const written = rows.slice(locks.length)
      // An insert that returns its row returns none if a row of the host is missing to which it refers.
      if (statements.some((one, index) => isAnswered(one) && written[index]?.length === 0)) throw new Unwritten()
      verify?.(written)
    },
    sending: { ...sending, independentFrom: locks.length + (sending?.independentFrom ?? statements.length) },
    ...others,
  }
  try {
    return yield* log.write(session, logged, change, open)
  } catch (error) {
    if (!(error instanceof Unwritten)) throw error
    yield* refuseMissing(session, references, refers)
    throw new BrokenReference(error) // it was missing for a moment
  }
}

function isAnswered({ sql, returnsRows }: Statement<unknown>): boolean {
  return returnsRows && sql.startsWith('insert')
}

const NONE: readonly Referred[] = []

/** Thrown when a row was not written that refers to a row of the host. */
class Unwritten extends Error {
  override readonly name = 'Unwritten'
}

/** Looks for rows of the host, if there are any. @throws ForgeError `*_NOT_FOUND` of the first that is missing */
function* refuseMissing(session: Session, references: References, rows: readonly Referred[]): SyncOrAsync<void> {
  if (rows.length > 0) references.refuseMissing(rows, yield* query(session, references.finding(rows)))
}
