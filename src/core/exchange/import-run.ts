import { isObject } from '../../schema/arguments.ts'
import { ForgeError } from '../../schema/errors.ts'
import type { IdInput } from '../../schema/ids.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, IssueRecord, RecordLocator, SourcePosition } from '../../schema/issue-record.ts'
import { endOf, iteratorOf } from '../../schema/iteration.ts'
import { NumberSet } from '../../schema/number-set.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, wait } from '../../schema/sync-or-async.ts'
import type { Violation } from '../../schema/violation.ts'
import type { Tracker } from '../call.ts'
import { portAnswer } from '../call.ts'
import { withSubject } from '../change.ts'
import type { CallOptions } from '../ports.ts'
import { violationsOf } from './check-record.ts'
import type { Conflict, ImportReport } from './import-report.ts'
import { ImportTotals } from './import-report.ts'
import type { NameMapping } from './incoming.ts'
import { commentWithPeople, issueWithPeople } from './incoming.ts'
import type { Batch, LookUp } from './look-up.ts'
import { lookUp } from './look-up.ts'
import type { BatchPlan, OnConflict } from './plan-batch.ts'
import { describedLabels, planBatch } from './plan-batch.ts'
import { sizeOf } from './record-size.ts'
import type { BatchJob, PlannedBatch } from './write-batch.ts'
import { eventLoopTurns, writeBatch } from './write-batch.ts'

/** The records to import, and the repository. A plain `IssueRecord` is an issue too. */
export interface ImportRequest {
  readonly repositoryId: IdInput
  /**
   * What `readExchange` or `readIssues` returns, or an array. Inside `withTransactionSync` it must not wait. Violations
   * have a position in the source if it has the method `position`.
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
  /**
   * What happens to a record that cannot be imported. 'throw' (default): it ends the import with `INVALID_DOCUMENT`. A
   * function receives its violations, and the record is left out.
   */
  readonly onInvalid?: 'throw' | ((violation: Violation) => void) | undefined
  /** Called after each batch, with the counts so far. */
  readonly onBatch?: ((soFar: ImportReport) => void) | undefined
}

/** A batch that has reached this size is written, in characters: a transaction has five seconds. */
const MAX_BATCH_SIZE = 4_000_000

/** One import or inspection, after the policy allowed it. */
interface ImportJob extends BatchJob, ImportSettings {
  readonly tracker: Tracker
  readonly records: ImportRequest['records']
  /** Whether anything is written. */
  readonly writes: boolean
}

/** The options of an import with their defaults. */
export interface ImportSettings {
  readonly onConflict: OnConflict
  readonly naming: NameMapping
  readonly batch: number
  /** Undefined: an import throws. */
  readonly onInvalid: ((violation: Violation) => void) | undefined
  readonly onBatch: ImportOptions['onBatch']
}

/** Reads the records, and imports or inspects them batch by batch. Returns the totals. */
export function* runImport(job: ImportJob): SyncOrAsync<ImportTotals> {
  const run = new ImportRun(job)
  const records = iteratorOf(job.records)
  let isDone = false
  try {
    for (let index = 0; ; index += 1) {
      const next = records.next()
      const step = isPromise(next) ? yield* wait(next) : next
      if (step.done === true) {
        isDone = true
        break
      }
      yield* run.take(step.value, index)
    }
  } finally {
    if (!isDone) endOf(records)
  }
  return yield* run.end()
}

class ImportRun {
  readonly #job: ImportJob
  readonly #totals = new ImportTotals()
  /** The numbers of all issues of the document. */
  readonly #seen = new NumberSet()
  /** Those of the issues that were left although they differ. */
  readonly #left = new NumberSet()
  /** The labels and milestones of earlier batches, if those on the host follow them. */
  readonly #named = new Set<string>()
  readonly #turn: () => SyncOrAsync<void>
  #batch: Batch = { labels: [], milestones: [], issues: [], comments: [] }
  #pending = 0
  /** How much the records of the batch cost, in characters. */
  #size = 0

  constructor(job: ImportJob) {
    this.#job = job
    this.#turn = eventLoopTurns(job.scope)
  }

  /**
   * Adds a record to the batch. Writes the batch if it has as many records as a transaction may have, or as much in them.
   * @throws ForgeError `INVALID_DOCUMENT` unless this is an inspection, or invalid records are left out
   */
  *take(given: ExchangeRecord | IssueRecord, index: number): SyncOrAsync<void> {
    const record: ExchangeRecord = isObject(given) && !('kind' in given) ? { kind: 'issue', issue: given } : given
    this.#pending += 1
    const violations = violationsOf(record)
    if (violations.length > 0) this.#refuse(violations, index)
    else this.#add(record, index)
    if (this.#pending >= this.#job.batch || this.#size >= MAX_BATCH_SIZE) yield* this.#finishBatch()
  }

  #add(record: ExchangeRecord, index: number): void {
    const { tracker, naming } = this.#job
    switch (record.kind) {
      case 'label':
        this.#batch.labels.push(record.label)
        break
      case 'milestone':
        this.#batch.milestones.push(record.milestone)
        break
      case 'issue': {
        const { number } = record.issue
        if (this.#seen.has(number)) {
          const message = `expected a number that no other issue of the document has; ${number} occurs twice`
          this.#refuse([{ pointer: '/number', code: 'duplicate_number', message }], index)
          return
        }
        this.#seen.add(number)
        this.#batch.issues.push({ position: this.#positionOf(index), ...issueWithPeople(record.issue, naming) })
        break
      }
      default: {
        if (tracker.comments === 'none') {
          this.#totals.loseComment(index)
          return
        }
        const position = this.#positionOf(index, '/issue_number')
        this.#batch.comments.push({ position, ...commentWithPeople(record.comment, naming) })
      }
    }
    this.#size += sizeOf(Reflect.get(record, record.kind))
  }

  *#finishBatch(): SyncOrAsync<void> {
    const { call, onBatch, writes } = this.#job
    yield* this.#turn() // one record may have taken long to read
    call.signal?.throwIfAborted()
    const batch = this.#batch
    const plan = yield* writes
      ? writeBatch(this.#job, (context) => this.#planWrite(batch, context))
      : this.#plan(batch, call, (answer) => portAnswer(call, answer))
    this.#totals.add(plan)
    this.#found(plan.violations) // not in the transaction, which may run several times
    for (const number of plan.left) this.#left.add(number)
    if (this.#job.onConflict === 'update') for (const name of namesIn(batch)) this.#named.add(name)
    // Labels and milestones wait for a batch that writes something, if the host does not say which ones it has.
    const { labels, milestones } = plan.hasLabels ? { labels: [], milestones: [] } : batch
    this.#batch = { labels, milestones, issues: [], comments: [] }
    this.#pending = 0
    this.#size = 0
    onBatch?.(this.#totals.report())
    yield* this.#turn()
  }

  /** Writes the last batch. Returns the totals. @throws ForgeError `INVALID_DOCUMENT` when an inspection found violations */
  *end(): SyncOrAsync<ImportTotals> {
    if (this.#pending > 0) yield* this.#finishBatch()
    yield* this.#reserve()
    const { total, first } = this.#totals.violations.list()
    if (total > 0) throw invalidDocument(first, total)
    return this.#totals
  }

  /**
   * Returns the position of the record that was read last, for what is found when its batch is planned.
   *
   * @param path - the property that is named if the source does not know its records
   */
  #positionOf(index: number, path = ''): SourcePosition {
    return this.#job.records.position?.() ?? { pointer: `/${index}${path}` }
  }

  /** Passes the greatest number of what the source has left out on to the host, which must not give it to its next issue. */
  *#reserve(): SyncOrAsync<void> {
    const { tracker, repositoryId, records, writes } = this.#job
    const upTo = records.greatestLeftOut?.() ?? 0
    if (!writes || upTo === 0 || tracker.reserveNumbers === undefined) return
    yield* writeBatch(this.#job, function* reserve(context): SyncOrAsync<PlannedBatch<undefined>> {
      yield* wait(tracker.reserveNumbers?.({ repositoryId, upTo }, context))
      return { plan: undefined, event: undefined, write: () => undefined }
    })
  }

  /** Refuses the record that was read last. @param violations - their pointers begin at the record */
  #refuse(violations: readonly Violation[], index: number): void {
    const position = this.#positionOf(index)
    this.#found(violations.map((each) => ({ ...each, ...position, pointer: `${position.pointer}${each.pointer}` })))
  }

  #found(violations: readonly Violation[]): void {
    const { onInvalid, writes } = this.#job
    if (onInvalid !== undefined) for (const violation of violations) onInvalid(violation)
    else if (writes && violations.length > 0) throw invalidDocument(violations)
    else this.#totals.violations.add(violations)
  }

  /** @throws ForgeError `INVALID_DOCUMENT`, `IMPORT_CONFLICT` */
  *#planWrite(batch: Batch, context: LookUp['context']): SyncOrAsync<PlannedBatch<BatchPlan>> {
    const { tracker, repositoryId, onInvalid } = this.#job
    const plan = yield* this.#plan(batch, context, wait)
    if (onInvalid === undefined && plan.violations.length > 0) throw invalidDocument(plan.violations)
    const { write, issues, comments } = plan
    const data = {
      created: issues.created,
      updated: issues.updated,
      comments: comments.created + comments.updated,
    }
    return {
      plan,
      event: write && withSubject({ repositoryId }, { type: 'issues.imported', data }),
      write: () => write && tracker.write({ repositoryId, ...write() }, context),
    }
  }

  *#plan(batch: Batch, context: LookUp['context'], answer: LookUp['answer']): SyncOrAsync<BatchPlan> {
    const { tracker, repositoryId, naming, onConflict, writes } = this.#job
    const { attributes } = naming
    const follows = onConflict === 'update'
    const found = yield* lookUp({ tracker, repositoryId, context, attributes, follows, answer }, batch)
    // An import finds the issues of earlier batches on the host; an inspection has written none.
    const hasIssue = (number: number): boolean => !writes && this.#seen.has(number)
    const hasLeft = (number: number): boolean => this.#left.has(number)
    const hasNamed = (kind: string, name: string): boolean => this.#named.has(`${kind} ${name}`)
    const plan = planBatch(batch, found, { hasIssue, hasLeft, hasNamed }, onConflict)
    const [conflict] = plan.conflicts
    if (writes && conflict !== undefined) throw importConflict(conflict)
    return plan
  }
}

function namesIn(batch: Batch): readonly string[] {
  const labels = describedLabels(batch).map(({ name }) => `label ${name}`)
  return [...labels, ...batch.milestones.map(({ title }) => `milestone ${title}`)]
}

function importConflict(conflict: Conflict): ForgeError {
  const { number, reason, property } = conflict
  const message =
    reason === 'taken'
      ? `the number ${number} is taken by something that is not an issue`
      : `issue ${number} exists and differs in ${property}: import with onConflict 'skip' or 'update'`
  return new ForgeError('IMPORT_CONFLICT', message, conflict)
}
