import { isObject } from '../../schema/arguments.ts'
import type { Violation } from '../../schema/errors.ts'
import { ForgeError, isForgeError } from '../../schema/errors.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  RecordLocator,
  SourcePlace,
} from '../../schema/issue-record.ts'
import type { EventDraft, ForgeEvent } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, wait } from '../../schema/sync-or-async.ts'
import type { Call, Scope } from '../call.ts'
import { portAnswer, runIn, writeContext } from '../call.ts'
import type { Actor, Caller, CallOptions, PortContext } from '../ports.ts'
import { withSubject } from '../with-subject.ts'
import { violationsOf } from './check-record.ts'
import type { ImportReport } from './import-report.ts'
import { ImportTotals } from './import-report.ts'
import type { Candidate, Naming } from './incoming.ts'
import { commentCandidate, issueCandidate, peopleToFind } from './incoming.ts'
import type { IssueTracker } from './issue-tracker.ts'
import type { LookUp } from './look-up.ts'
import { lookUp } from './look-up.ts'
import { NumberSet } from './number-set.ts'
import type { Batch, BatchPlan, Conflict, Found, OnConflict } from './plan-batch.ts'
import { planBatch } from './plan-batch.ts'
import { sizeOf } from './record-size.ts'

/** The records to import, and the repository. A plain `IssueRecord` is an issue too. */
export interface ImportRequest {
  readonly repositoryId: IdInput
  /**
   * What `readExchange` or `readIssues` returns, or an array. Inside `withTransactionSync` it must not wait. Violations
   * have a place in the source if it has the method `place`.
   */
  readonly records: (Iterable<ExchangeRecord | IssueRecord> | AsyncIterable<ExchangeRecord | IssueRecord>) &
    Partial<RecordLocator>
}

/** Options of `import` and `inspect`. */
export interface ImportOptions extends CallOptions {
  /**
   * What happens to an issue that exists and differs: 'refuse' (default) ends the import with `IMPORT_CONFLICT`, 'skip'
   * leaves the issue and its comments, 'update' replaces it. What is the same is left in any case.
   */
  readonly onConflict?: 'refuse' | 'skip' | 'update' | undefined
  /**
   * 'names' (default): the names of people are kept as text. 'accounts': their issues, comments and reactions belong to
   * the accounts that the host finds. The policy is then also asked `issues.attribute`.
   */
  readonly attribution?: 'accounts' | 'names' | undefined
  /** Maps names in the document to names on this host. Null: the person has no account here. */
  readonly users?: { readonly [name: string]: string | null } | undefined
  /**
   * The maximum number of records in a transaction: 1 to 1,000. Default 200. A transaction has fewer if their texts and
   * lists reach about 4 MB.
   */
  readonly batch?: number | undefined
  /** Called after each batch, with the counts so far. */
  readonly onBatch?: ((soFar: ImportReport) => void) | undefined
}

/** A batch that has reached this size is written, in characters: a transaction has five seconds. */
const MAX_BATCH_SIZE = 4_000_000
const MAX_BUSY_MS = 60_000
const MAX_PAUSE_MS = 1000
/** How long batches may keep the event loop from everything else, in milliseconds. */
const TURN_MS = 10

/** One import or inspection, after the policy allowed it. */
export interface ImportPlace<A extends Actor, Tx> {
  readonly scope: Scope<A, Tx>
  readonly tracker: IssueTracker<A, Tx>
  readonly call: Call<A, Tx>
  readonly repositoryId: Id
  readonly records: ImportRequest['records']
  readonly settings: ImportSettings
  /** Whether anything is written. */
  readonly writes: boolean
}

/** The options of an import with their defaults. */
export interface ImportSettings {
  readonly onConflict: OnConflict
  readonly naming: Naming
  readonly batch: number
  readonly onBatch: ImportOptions['onBatch']
}

/** Reads the records, and imports or inspects them batch by batch. Returns the totals. */
export function* runImport<A extends Actor, Tx>(place: ImportPlace<A, Tx>): SyncOrAsync<ImportTotals> {
  const run = new ImportRun(place)
  const records = iteratorOf(place.records)
  let isDone = false
  try {
    for (let index = 0; ; index += 1) {
      const next = records.next()
      const step = isPromise(next) ? yield* wait(next) : next
      if (step.done === true) {
        isDone = true
        break
      }
      run.take(step.value, index)
      if (run.isFull) yield* run.finishBatch()
    }
  } finally {
    if (!isDone) end(records)
  }
  if (!run.isEmpty) yield* run.finishBatch()
  return run.end()
}

class ImportRun<A extends Actor, Tx> {
  readonly #place: ImportPlace<A, Tx>
  readonly #totals = new ImportTotals()
  /** The numbers of all issues of the document. */
  readonly #seen = new NumberSet()
  /** Those of the issues that were left although they differ. */
  readonly #left = new NumberSet()
  /** Labels and milestones wait for a batch that writes something, if the host does not say which ones it has. */
  #labels: LabelRecord[] = []
  #milestones: MilestoneRecord[] = []
  #issues: Candidate<IssueRecord>[] = []
  #batchComments: Candidate<CommentRecord>[] = []
  #turnedAt = performance.now()
  #pending = 0
  /** How much the records of the batch cost, in characters. */
  #size = 0

  constructor(place: ImportPlace<A, Tx>) {
    this.#place = place
  }

  /** Whether the batch has no record. */
  get isEmpty(): boolean {
    return this.#pending === 0
  }

  /** Whether the batch has as many records as a transaction may have, or as much in them. */
  get isFull(): boolean {
    return this.#pending >= this.#place.settings.batch || this.#size >= MAX_BATCH_SIZE
  }

  /** Adds a record to the batch. @throws ForgeError `INVALID_DOCUMENT` unless this is an inspection */
  take(given: ExchangeRecord | IssueRecord, index: number): void {
    const record: ExchangeRecord = isObject(given) && !('kind' in given) ? { kind: 'issue', issue: given } : given
    this.#pending += 1
    const violations = violationsOf(record)
    if (violations.length > 0) this.#refuse(this.#placed(violations, index))
    else this.#add(record, index)
  }

  #add(record: ExchangeRecord, index: number): void {
    switch (record.kind) {
      case 'label':
        this.#labels.push(record.label)
        this.#size += sizeOf([record.label.name, record.label.color, record.label.description])
        break
      case 'milestone':
        this.#milestones.push(record.milestone)
        this.#size += sizeOf([record.milestone.title, record.milestone.description])
        break
      case 'issue':
        this.#takeIssue(record.issue, index)
        break
      default:
        this.#takeComment(record.comment, index)
    }
  }

  *finishBatch(): SyncOrAsync<void> {
    const { call, settings, writes } = this.#place
    yield* this.#giveWay() // one record may have taken long to read
    call.signal?.throwIfAborted()
    const batch = this.#batch()
    const { plan, found } = writes ? yield* this.#write(batch) : yield* this.#inspect(batch)

    this.#remember(batch, plan, found)
    this.#issues = []
    this.#batchComments = []
    this.#pending = 0
    this.#size = 0
    settings.onBatch?.(this.#totals.report())
    yield* this.#giveWay()
  }

  *#giveWay(): SyncOrAsync<void> {
    if (!this.#place.scope.mayWait || performance.now() - this.#turnedAt < TURN_MS) return

    yield* wait(pause(0))
    this.#turnedAt = performance.now()
  }

  /** Returns the totals. @throws ForgeError `INVALID_DOCUMENT` when an inspection found violations */
  end(): ImportTotals {
    const { total, first } = this.#totals.violations
    if (total > 0) throw invalidDocument(first, total)
    return this.#totals
  }

  #batch(): Batch {
    return { labels: this.#labels, milestones: this.#milestones, issues: this.#issues, comments: this.#batchComments }
  }

  #takeIssue(issue: IssueRecord, index: number): void {
    const { number } = issue
    if (this.#seen.has(number)) {
      const message = `expected a number that no other issue of the document has; ${number} occurs twice`
      this.#refuse(this.#placed([{ pointer: '/number', code: 'duplicate_number', message }], index))
      return
    }
    this.#seen.add(number)
    const candidate = issueCandidate(issue, this.#placeOf(index, ''), this.#place.settings.naming)
    this.#issues.push(candidate)
    this.#size += sizeOf(candidate.record)
  }

  #takeComment(comment: CommentRecord, index: number): void {
    if (this.#place.tracker.comments === 'none') this.#totals.notCarried('comments', index)
    else {
      const place = this.#placeOf(index, '/issue_number')
      const candidate = commentCandidate(comment, place, this.#place.settings.naming)
      this.#batchComments.push(candidate)
      this.#size += sizeOf(candidate.record)
    }
  }

  /**
   * Returns the place of the record that was read last, for what is found when its batch is planned.
   *
   * @param path - the property that is named if the source does not know its records
   */
  #placeOf(index: number, path: string): SourcePlace {
    return this.#place.records.place?.() ?? { pointer: `/${index}${path}` }
  }

  /** Adds the place to violations of the record that was read last, whose pointers begin at the record. */
  #placed(violations: readonly Violation[], index: number): readonly Violation[] {
    const place = this.#placeOf(index, '')
    return violations.map((violation) => ({ ...violation, ...place, pointer: `${place.pointer}${violation.pointer}` }))
  }

  #refuse(violations: Parameters<ImportTotals['addViolations']>[0]): void {
    if (this.#place.writes && violations.length > 0) throw invalidDocument(violations)
    this.#totals.addViolations(violations)
  }

  /** Looks up, plans and writes a batch in one transaction. Waits for a busy database. */
  *#write(batch: Batch): SyncOrAsync<Planned> {
    const until = performance.now() + MAX_BUSY_MS
    for (let attempt = 1; ; attempt += 1) {
      try {
        return yield* this.#attempt(batch)
      } catch (error) {
        if (!this.#mayTryAgain(error) || performance.now() >= until) throw error
      }
      yield* wait(pause(Math.min(MAX_PAUSE_MS, 25 * 2 ** attempt)))
      this.#place.call.signal?.throwIfAborted()
    }
  }

  *#attempt(batch: Batch): SyncOrAsync<Planned> {
    const { scope, call, repositoryId } = this.#place
    const context = writeContext(scope, call)
    // Set by each attempt of the storage, and used by what follows in the same attempt.
    let planned: Planned | undefined
    const outcome = yield* wait(
      scope.environment.storage.issueImports.update<Planned, Planned>(
        { repositoryId },
        {
          prepare: (_state, transaction) => runIn(scope, this.#prepare(batch, transaction)),
          decide: (state, _at, prepared) => {
            planned = prepared
            const events = prepared.plan.write === undefined ? [] : [importedEvent(repositoryId, prepared.plan)]
            return { state, events, result: prepared }
          },
          ...context,
          beforeCommit: (events, transaction) => runIn(scope, this.#commit(planned, events, transaction)),
          signal: call.signal,
        },
      ),
    )
    scope.announce(outcome.events)
    return outcome.result
  }

  /** @throws ForgeError `INVALID_DOCUMENT`, `IMPORT_CONFLICT` */
  *#prepare(batch: Batch, transaction: Tx): SyncOrAsync<Planned> {
    const planned = yield* this.#plan(batch, this.#contextIn(transaction), wait)
    for (const conflict of planned.plan.conflicts) throw importConflict(conflict)
    return planned
  }

  *#commit(planned: Planned | undefined, events: readonly ForgeEvent[], transaction: Tx): SyncOrAsync<void> {
    const { scope, tracker, repositoryId } = this.#place
    const write = planned?.plan.write
    if (write !== undefined) yield* wait(tracker.write({ repositoryId, ...write }, this.#contextIn(transaction)))
    yield* wait(scope.beforeCommit?.(events, transaction))
  }

  #inspect(batch: Batch): SyncOrAsync<Planned> {
    const { call } = this.#place
    return this.#plan(batch, call, (answer) => portAnswer(call, answer))
  }

  *#plan(batch: Batch, context: LookUp<A, Tx>['context'], answer: LookUp<A, Tx>['answer']): SyncOrAsync<Planned> {
    const { tracker, repositoryId, settings, writes } = this.#place
    const { attributes } = settings.naming
    const found = yield* lookUp({ tracker, repositoryId, context, attributes, answer }, batch)
    // An import finds the issues of earlier batches on the host; an inspection has written none.
    const hasIssue = (number: number): boolean => !writes && this.#seen.has(number)
    const hasLeft = (number: number): boolean => this.#left.has(number)
    const plan = planBatch(batch, found, { hasIssue, hasLeft }, settings.onConflict)
    this.#refuse(plan.violations)
    return { plan, found }
  }

  #remember(batch: Batch, plan: BatchPlan, { accounts, labels }: Found): void {
    this.#totals.add(plan)
    for (const number of plan.left) this.#left.add(number)
    if (plan.write !== undefined || labels !== undefined) {
      this.#labels = []
      this.#milestones = []
    }
    if (!this.#place.settings.naming.attributes) return
    for (const candidate of [...batch.issues, ...batch.comments]) {
      for (const person of peopleToFind(candidate)) {
        if (person !== undefined && person.name !== '' && accounts.idOf(person) === null) {
          this.#totals.unknownUser(person.name)
        }
      }
    }
  }

  #contextIn(transaction: Tx): PortContext<Caller<A>, Tx> {
    const { actor, signal } = this.#place.call
    return { actor, transaction, signal }
  }

  #mayTryAgain(error: unknown): boolean {
    const { transaction, mayWait } = this.#place.scope
    if (transaction !== undefined || !mayWait) return false
    return isForgeError(error, 'STORAGE_BUSY') // whatever it says of a retry: the batch is a transaction of its own
  }
}

interface Planned {
  readonly plan: BatchPlan
  readonly found: Found
}

function importedEvent(repositoryId: Id, { issues, comments }: BatchPlan): EventDraft {
  const data = { created: issues.created, updated: issues.updated, comments: comments.created }
  return withSubject({ repositoryId }, { type: 'issues.imported', data })
}

function importConflict(conflict: Conflict): ForgeError {
  const { number, reason, property } = conflict
  const message =
    reason === 'taken'
      ? `the number ${number} is taken by something that is not an issue`
      : `issue ${number} exists and differs in ${property}: import with onConflict 'skip' or 'update'`
  return new ForgeError('IMPORT_CONFLICT', message, conflict)
}

type Records = Iterator<ExchangeRecord | IssueRecord> | AsyncIterator<ExchangeRecord | IssueRecord>

function iteratorOf(records: ImportRequest['records']): Records {
  return Symbol.asyncIterator in records ? records[Symbol.asyncIterator]() : records[Symbol.iterator]()
}

/** Ends a source that was not read to its end. Does not wait: a source that is stuck would never return. */
function end(records: Records): void {
  const ended = async (): Promise<unknown> => records.return?.()
  ended().catch(() => undefined)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
