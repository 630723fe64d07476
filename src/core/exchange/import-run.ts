import { isObject } from '../../schema/arguments.ts'
import type { Violation } from '../../schema/errors.ts'
import { ForgeError } from '../../schema/errors.ts'
import type { IdInput } from '../../schema/ids.ts'
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
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, wait } from '../../schema/sync-or-async.ts'
import { portAnswer } from '../call.ts'
import { withSubject } from '../change.ts'
import type { Actor, Caller, CallOptions, PortContext } from '../ports.ts'
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
import type { BatchPlace } from './write-batch.ts'
import { eventLoopTurns, writeBatch } from './write-batch.ts'

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

/** One import or inspection, after the policy allowed it. */
export interface ImportPlace<A extends Actor, Tx> extends BatchPlace<A, Tx> {
  readonly tracker: IssueTracker<A, Tx>
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
  #comments: Candidate<CommentRecord>[] = []
  readonly #turn: () => SyncOrAsync<void>
  #pending = 0
  /** How much the records of the batch cost, in characters. */
  #size = 0

  constructor(place: ImportPlace<A, Tx>) {
    this.#place = place
    this.#turn = eventLoopTurns(place.scope)
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
    yield* this.#turn() // one record may have taken long to read
    call.signal?.throwIfAborted()
    const batch: Batch = {
      labels: this.#labels,
      milestones: this.#milestones,
      issues: this.#issues,
      comments: this.#comments,
    }
    const planned = yield* writes ? this.#write(batch) : this.#plan(batch, call, (answer) => portAnswer(call, answer))
    this.#remember(batch, planned)
    this.#issues = []
    this.#comments = []
    this.#pending = 0
    this.#size = 0
    settings.onBatch?.(this.#totals.report())
    yield* this.#turn()
  }

  /** Returns the totals. @throws ForgeError `INVALID_DOCUMENT` when an inspection found violations */
  end(): ImportTotals {
    const { total, first } = this.#totals.violations
    if (total > 0) throw invalidDocument(first, total)
    return this.#totals
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
      this.#comments.push(candidate)
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

  /** @throws ForgeError `INVALID_DOCUMENT`, `IMPORT_CONFLICT` */
  #write(batch: Batch): SyncOrAsync<Planned> {
    const { tracker, repositoryId } = this.#place
    return writeBatch(this.#place, {
      plan: (context) => this.#planWrite(batch, context),
      event: ({ plan: { write, issues, comments } }) => {
        if (write === undefined) return undefined
        const data = { created: issues.created, updated: issues.updated, comments: comments.created }
        return withSubject({ repositoryId }, { type: 'issues.imported', data })
      },
      write: ({ plan: { write } }, context) => write && tracker.write({ repositoryId, ...write }, context),
    })
  }

  *#planWrite(batch: Batch, context: PortContext<Caller<A>, Tx>): SyncOrAsync<Planned> {
    const planned = yield* this.#plan(batch, context, wait)
    for (const conflict of planned.plan.conflicts) throw importConflict(conflict)
    return planned
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

  #remember(batch: Batch, { plan, found: { accounts, labels } }: Planned): void {
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
}

interface Planned {
  readonly plan: BatchPlan
  readonly found: Found
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
