import { isObject, needObject } from '../../schema/arguments.ts'
import type { ForgeErrorDetails } from '../../schema/errors.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { ExchangeRecord, IssueRecord, NotCarried, RecordLocator } from '../../schema/issue-record.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after, runMaybeAsync, runSync } from '../../schema/sync-or-async.ts'
import { askPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { answerOf } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import { exportIssues, exportRecords } from './export.ts'
import type { ImportTotals } from './import-report.ts'
import type { ImportSettings } from './import-run.ts'
import { runImport } from './import-run.ts'
import type { IssueTracker } from './issue-tracker.ts'

/** The records to import, and the repository. A plain `IssueRecord` is an issue too. */
export interface ImportRequest {
  readonly repositoryId: IdInput
  /**
   * What `readExchange` or `readIssues` returns, or an array. Inside `withTransactionSync` it must not wait. Violations
   * have a place in the source if it has the method `locate`.
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
  /** The maximum number of records in a transaction: 1 to 1,000. Default 200. */
  readonly batch?: number | undefined
  /** Called after each batch, with the counts so far. */
  readonly onBatch?: ((soFar: ImportReport) => void) | undefined
}

/** How many records were created, replaced, found the same, and left although they differ. */
export interface ImportCounts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly skipped: number
}

/** What an import did. */
export interface ImportReport {
  readonly issues: ImportCounts
  readonly comments: ImportCounts
  /** The people without an account here: how many, and the first hundred with how often each is named. */
  readonly unknownUsers: {
    readonly total: number
    readonly first: readonly { readonly name: string; readonly count: number }[]
  }
  /** What the host has no place for. What the source lost when it was read is reported by `readExchange`. */
  readonly notCarried: readonly NotCarried[]
}

/** What an import would do. Conflicts are reported instead of thrown: how many, and the first hundred. */
export interface InspectReport extends ImportReport {
  readonly conflicts: {
    readonly total: number
    readonly first: readonly ForgeErrorDetails['IMPORT_CONFLICT'][]
  }
}

/**
 * The issue exchange: imports issues into a repository, and exports them. Source: docs/behaviour.md, Exchange.
 * Without the option `issues` of `createForge` every method throws a TypeError.
 */
export interface ExchangeService<A extends Actor> {
  /**
   * Imports records. An import is repeatable: the number identifies an issue, and what exists and is the same is left,
   * so an import that broke off is finished by running it again. Each batch is one transaction with one event; inside
   * `withTransaction` and `withTransactionSync` all batches are in the host's transaction.
   * @throws ForgeError `INVALID_DOCUMENT` for a record that cannot be imported, `IMPORT_CONFLICT`,
   * `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`; TypeError when the forge has no `issues`
   */
  import(actor: Caller<A>, request: ImportRequest, options?: ImportOptions): Promise<ImportReport>
  /**
   * Reports what `import` would do, and writes nothing.
   * @throws ForgeError `INVALID_DOCUMENT`, `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`; TypeError when the
   * forge has no `issues`
   */
  inspect(actor: Caller<A>, request: ImportRequest, options?: ImportOptions): Promise<InspectReport>
  /**
   * Returns the issues of a repository in ascending order of their numbers. They are read in pages, so that no
   * transaction stays open, and issues that change meanwhile may be seen before or after the change.
   * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED` or `FORBIDDEN` when it is iterated; TypeError at once
   * when the forge has no `issues`
   */
  export(actor: Caller<A>, repositoryId: IdInput, options?: CallOptions): AsyncIterable<IssueRecord>
  /** Returns labels and milestones, and then the issues as `export` does, each followed by its comments. */
  exportAll(actor: Caller<A>, repositoryId: IdInput, options?: CallOptions): AsyncIterable<ExchangeRecord>
}

const DEFAULT_BATCH = 200
const MAX_BATCH = 1000

/** The methods of the exchange service. Each runs one call. */
export class ExchangeServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  import(call: Call<A, Tx>, request: ImportRequest, options: ImportOptions = {}): MaybePromise<ImportReport> {
    const totals = this.#run(call, request, options, true)
    return after(totals, (done) => withoutConflicts(done.report()))
  }

  inspect(call: Call<A, Tx>, request: ImportRequest, options: ImportOptions = {}): MaybePromise<InspectReport> {
    const totals = this.#run(call, request, options, false)
    return after(totals, (done) => done.report())
  }

  export(call: Call<A, Tx>, repository: IdInput): AsyncIterable<IssueRecord> {
    return exportIssues(this.#environment, this.#tracker(), call, toId(repository, 'repositoryId'))
  }

  exportAll(call: Call<A, Tx>, repository: IdInput): AsyncIterable<ExchangeRecord> {
    return exportRecords(this.#environment, this.#tracker(), call, toId(repository, 'repositoryId'))
  }

  #run(call: Call<A, Tx>, request: ImportRequest, options: ImportOptions, writes: boolean): MaybePromise<ImportTotals> {
    const environment = this.#environment
    const tracker = this.#tracker()
    needObject(request, 'request', '{ repositoryId: 10, records: [] }')
    const repositoryId = toId(request.repositoryId, 'request.repositoryId')
    const records = toRecords(request.records, call.mayWait)
    const settings = toSettings(options)

    const authorized = after(authorize(environment, call, { action: 'issues.import', repositoryId }), () =>
      // Asked for the HTTP routes too: whether accounts are attributed is not part of their path.
      settings.naming.attributes
        ? askPolicy(environment, call, { action: 'issues.attribute', repositoryId })
        : undefined,
    )
    return after(answerOf(call, authorized), () => {
      const steps = runImport({ environment, tracker, call, repositoryId, records, settings, writes })
      return call.mayWait ? runMaybeAsync(steps) : runSync(steps)
    })
  }

  #tracker(): IssueTracker<A, Tx> {
    const { issues } = this.#environment
    if (issues !== undefined) return issues
    throw new TypeError('the service exchange needs the option issues of createForge: the tracker of the host')
  }
}

function withoutConflicts({ conflicts: _, ...report }: InspectReport): ImportReport {
  return report
}

function toRecords(records: ImportRequest['records'], mayWait: boolean): ImportRequest['records'] {
  const isIterable = isObject(records) && (Symbol.iterator in records || (mayWait && Symbol.asyncIterator in records))
  if (isIterable) return records
  throw new TypeError(
    mayWait
      ? 'request.records must be an iterable: an array, or what readExchange returns'
      : 'request.records must be an iterable that does not wait, such as an array: this transaction is synchronous',
  )
}

function toSettings(options: ImportOptions): ImportSettings {
  needObject(options, 'options', "{ onConflict: 'skip' }")
  const { onConflict = 'refuse', attribution = 'names', users = {}, batch = DEFAULT_BATCH, onBatch } = options
  if (onConflict !== 'refuse' && onConflict !== 'skip' && onConflict !== 'update') {
    throw new TypeError("options.onConflict must be 'refuse', 'skip' or 'update'")
  }
  if (attribution !== 'names' && attribution !== 'accounts') {
    throw new TypeError("options.attribution must be 'names' or 'accounts'")
  }
  needObject(users, 'options.users', "{ ada: 'ada.l', ghost: null }")
  const isName = (name: unknown): boolean => name === null || (typeof name === 'string' && name !== '')
  if (!Object.values(users).every(isName)) throw new TypeError('options.users must map names to names, or to null')
  if (!Number.isInteger(batch) || batch < 1 || batch > MAX_BATCH) {
    throw new TypeError(`options.batch must be an integer from 1 to ${MAX_BATCH}`)
  }
  if (onBatch !== undefined && typeof onBatch !== 'function') {
    throw new TypeError('options.onBatch must be a function, or undefined')
  }
  return {
    onConflict,
    naming: { users: new Map(Object.entries(users)), attributes: attribution === 'accounts' },
    batch,
    onBatch,
  }
}
