import type { Id } from '../../schema/ids.ts'
import type { CommentRecord, ExchangeRecord, IssueRecord } from '../../schema/issue-record.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { runMaybeAsync } from '../../schema/sync-or-async.ts'
import type { Call, Scope, Tracker } from '../call.ts'
import { portAnswer } from '../call.ts'
import { authorize } from '../policy.ts'
import { isIssue } from './issue-tracker.ts'
import { sizeOf } from './record-size.ts'

/** The number of issues on the first page: nothing is known yet about their size. */
const FIRST_PAGE = 20
const MAX_PAGE = 200
/** About the characters of a page. If the client stops reading, a page stays in memory. */
const PAGE_SIZE = 1_000_000

/** One export of a repository. */
export interface ExportJob {
  readonly scope: Scope
  readonly tracker: Tracker
  readonly call: Call
  readonly repositoryId: Id
}

/** Yields the issues of a repository, as `ExchangeService.export` does. */
export async function* exportIssues(job: ExportJob): AsyncGenerator<IssueRecord, void, void> {
  await mayExport(job)
  // Not yield*, which waits twice for each issue.
  for await (const { issues } of pagesOf(job, false)) for (const issue of issues) yield issue
}

/** Yields everything of a repository, as `ExchangeService.exportAll` does. */
export async function* exportRecords(job: ExportJob): AsyncGenerator<ExchangeRecord, void, void> {
  const { tracker, call, repositoryId } = job
  await mayExport(job)
  const named = new Set<string>()
  if (tracker.labelsAndMilestones !== undefined) {
    const { labels, milestones } = await answered(call, tracker.labelsAndMilestones({ repositoryId }, call))
    for (const label of labels) {
      named.add(label.name)
      yield { kind: 'label', label }
    }
    for (const milestone of milestones) yield { kind: 'milestone', milestone }
  }

  for await (const { issues, comments } of pagesOf(job, true)) {
    for (const issue of issues) {
      for (const label of issue.labels ?? []) {
        if (named.has(label.name)) continue
        named.add(label.name)
        yield { kind: 'label', label }
      }
      yield { kind: 'issue', issue }
      for (const comment of comments) if (comment.issue_number === issue.number) yield { kind: 'comment', comment }
    }
  }
}

async function mayExport({ scope, call, repositoryId }: ExportJob): Promise<void> {
  await runMaybeAsync(authorize(scope, call, { action: 'issues.export', repositoryId }))
}

async function answered<T>(call: Call, answer: MaybePromise<T>): Promise<T> {
  return runMaybeAsync(portAnswer(call, answer))
}

/** Reads the issues in pages, so that no transaction and no cursor stays open. */
async function* pagesOf(
  { tracker, call, repositoryId }: ExportJob,
  withComments: boolean,
): AsyncGenerator<
  { readonly issues: readonly IssueRecord[]; readonly comments: readonly CommentRecord[] },
  void,
  void
> {
  let after = 0
  let limit = FIRST_PAGE
  for (;;) {
    call.signal?.throwIfAborted()
    const answers = await answered(call, tracker.issues({ repositoryId, after, limit }, call))
    for (const { number } of answers) {
      if (!(number > after)) throw new TypeError('issues.issues must return ascending numbers above `after`')
      after = number
    }
    if (answers.length === 0) return
    const issues = answers.filter(isIssue)
    const numbers = issues.map(({ number }) => number)
    const comments =
      !withComments || tracker.comments === 'none' || numbers.length === 0
        ? []
        : await answered(call, tracker.comments({ repositoryId, numbers }, call))
    const fitting = (issues.length * PAGE_SIZE) / (sizeOf(issues) + sizeOf(comments))
    limit = issues.length === 0 ? MAX_PAGE : Math.max(1, Math.min(2 * limit, MAX_PAGE, Math.floor(fitting)))
    yield { issues, comments }
  }
}
