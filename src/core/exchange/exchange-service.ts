import { isObject, needObject, toInteger } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { ExchangeRecord, IssueRecord } from '../../schema/issue-record.ts'
import type { OptionRules } from '../../schema/options.ts'
import { ANY, checkOptions, FUNCTION, oneOf, optional } from '../../schema/options.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { Environment, MaybeAsync, Scope, Tracker } from '../call.ts'
import { Call } from '../call.ts'
import { method } from '../method.ts'
import { askPolicy } from '../policy.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import type { ExportJob } from './export.ts'
import { exportIssues, exportRecords } from './export.ts'
import type { ImportReport, ImportTotals, InspectReport } from './import-report.ts'
import type { ImportOptions, ImportRequest, ImportSettings } from './import-run.ts'
import { runImport } from './import-run.ts'
import type { ReattributeReport, ReattributeRequest } from './reattribute.ts'
import { runReattribution } from './reattribute.ts'

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
   * Gives the accounts of people to what was imported by their names: authors, assignees, comments and reactions. What has
   * an account keeps it, so a repetition changes nothing, and finishes what broke off. Each batch of 100 issues is one
   * transaction with one event; inside `withTransaction` and `withTransactionSync` all are in the host's transaction.
   * The policy is asked as for an import that attributes: `issues.import` and `issues.attribute`.
   * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`; TypeError when the forge has no `issues`, or
   * they have no `attribution`
   */
  reattribute(actor: Caller<A>, request: ReattributeRequest, options?: CallOptions): Promise<ReattributeReport>
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

/** Creates the exchange service of a scope, without the exports. */
export function exchangeService(
  scope: Scope,
): MaybeAsync<Pick<ExchangeService<Actor>, 'import' | 'inspect' | 'reattribute'>> {
  return {
    import: method(scope, toImport, function* importRecords(call, request) {
      const { conflicts: _, ...report } = (yield* run(call, request, true)).report()
      return report
    }),
    inspect: method(scope, toImport, function* inspect(call, request) {
      return (yield* run(call, request, false)).report()
    }),
    reattribute: method(scope, toReattribution, function* reattribute(call, request) {
      yield* mayAttribute(call, request.repositoryId)
      return yield* runReattribution({ scope, call, ...request })
    }),
  }

  function toImport(request: ImportRequest, options: ImportOptions = {}) {
    const tracker = trackerOf(scope.environment)
    needObject(request, 'request', '{ repositoryId: 10, records: [] }')
    const repositoryId = toId(request.repositoryId, 'request.repositoryId')
    const records = toRecords(request.records, scope.mayWait)
    return { access: toWrite(repositoryId), tracker, repositoryId, records, ...toSettings(options) }
  }

  function toReattribution(request: ReattributeRequest) {
    const tracker = trackerOf(scope.environment)
    const { attribution } = tracker
    if (attribution === undefined)
      throw new TypeError('exchange.reattribute needs attribution in the tracker of the host')
    needObject(request, 'request', "{ repositoryId: 10, people: { ada: 'ada.l' } }")
    const repositoryId = toId(request.repositoryId, 'request.repositoryId')
    const people = toNames(request.people, 'request.people')
    return { access: toWrite(repositoryId), tracker, attribution, repositoryId, people }
  }

  function* run(call: Call, request: ReturnType<typeof toImport>, writes: boolean): SyncOrAsync<ImportTotals> {
    if (request.naming.attributes) yield* mayAttribute(call, request.repositoryId)
    return yield* runImport({ scope, call, writes, ...request })
  }

  /** Asked for the HTTP routes too: whether accounts are attributed is not part of their path. */
  function mayAttribute(call: Call, repositoryId: Id): SyncOrAsync<void> {
    return askPolicy(scope, call, { action: 'issues.attribute', repositoryId })
  }
}

function toWrite(repositoryId: Id) {
  return { action: 'issues.import', repositoryId } as const
}

/** Creates the exports, which return iterables and run outside of a host's transaction. */
export function exportsIn(scope: Scope): Pick<ExchangeService<Actor>, 'export' | 'exportAll'> {
  const jobOf = (actor: Caller<Actor>, repository: IdInput, options: CallOptions | undefined): ExportJob => ({
    scope,
    tracker: trackerOf(scope.environment),
    call: new Call(actor, undefined, options),
    repositoryId: toId(repository, 'repositoryId'),
  })
  return {
    export: (actor, repositoryId, options) => exportIssues(jobOf(actor, repositoryId, options)),
    exportAll: (actor, repositoryId, options) => exportRecords(jobOf(actor, repositoryId, options)),
  }
}

function trackerOf({ issues }: Environment): Tracker {
  if (issues !== undefined) return issues
  throw new TypeError('the service exchange needs the option issues of createForge: the tracker of the host')
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

const IMPORT_OPTIONS: OptionRules<ImportOptions> = {
  signal: ANY,
  onConflict: oneOf('refuse', 'skip', 'update'),
  attribution: oneOf('names', 'accounts'),
  users: ANY,
  batch: ANY,
  onInvalid: optional((value) => value === 'throw' || typeof value === 'function', "'throw' or a function"),
  onBatch: FUNCTION,
}

function toSettings(options: ImportOptions): ImportSettings {
  checkOptions('exchange.import', options, IMPORT_OPTIONS)
  const { onConflict = 'refuse', attribution, users = {}, batch = DEFAULT_BATCH, onInvalid, onBatch } = options
  const naming = { users: toNames(users, 'options.users'), attributes: attribution === 'accounts' }
  return {
    onConflict,
    naming,
    batch: toInteger(batch, 'options.batch', 1, MAX_BATCH),
    onInvalid: onInvalid === 'throw' ? undefined : onInvalid,
    onBatch,
  }
}

function toNames(names: ReattributeRequest['people'], what: string): ReadonlyMap<string, string | null> {
  needObject(names, what, "{ ada: 'ada.l', ghost: null }")
  const isName = (name: unknown): boolean => name === null || (typeof name === 'string' && name !== '')
  if (!Object.values(names).every(isName)) throw new TypeError(`${what} must map names to names, or to null`)
  return new Map(Object.entries(names))
}
