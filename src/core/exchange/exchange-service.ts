import { isObject, needObject } from '../../schema/arguments.ts'
import type { IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { ExchangeRecord, IssueRecord } from '../../schema/issue-record.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after, runMaybeAsync, runSync } from '../../schema/sync-or-async.ts'
import { askPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { answerOf } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import { exportIssues, exportRecords } from './export.ts'
import type { ImportReport, ImportTotals, InspectReport } from './import-report.ts'
import type { ImportOptions, ImportRequest, ImportSettings } from './import-run.ts'
import { runImport } from './import-run.ts'
import type { IssueTracker } from './issue-tracker.ts'

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
   * Returns the issues of a repository in ascending order of their numbers. They are read in pages of about a megabyte,
   * each when it is needed, so that no transaction stays open, and issues that change meanwhile may be seen before or
   * after the change.
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
