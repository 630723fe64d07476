import type { Id } from '../../schema/ids.ts'
import type { CommentRecord, ExchangeRecord, IssueRecord } from '../../schema/issue-record.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { portAnswerOf, portContext } from '../call.ts'
import type { Environment } from '../environment.ts'
import type { Actor } from '../ports.ts'
import type { IssueTracker } from './issue-tracker.ts'
import { isIssue } from './issue-tracker.ts'
import { sizeOf } from './record-size.ts'

/** The number of issues on the first page: nothing is known yet about their size. */
const FIRST_PAGE = 20
const MAX_PAGE = 200
/** About the characters of a page. If the client stops reading, a page stays in memory. */
const PAGE_SIZE = 1_000_000

/** Yields the issues of a repository, as `ExchangeService.export` does. */
export async function* exportIssues<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  tracker: IssueTracker<A, Tx>,
  call: Call<A, Tx>,
  repositoryId: Id,
): AsyncGenerator<IssueRecord, void, void> {
  await authorize(environment, call, { action: 'issues.export', repositoryId })
  // Not yield*, which waits twice for each issue.
  const pages = pagesOf(tracker, call, repositoryId, () => [])
  for await (const { issues } of pages) for (const issue of issues) yield issue
}

/** Yields everything of a repository, as `ExchangeService.exportAll` does. */
export async function* exportRecords<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  tracker: IssueTracker<A, Tx>,
  call: Call<A, Tx>,
  repositoryId: Id,
): AsyncGenerator<ExchangeRecord, void, void> {
  await authorize(environment, call, { action: 'issues.export', repositoryId })
  const named = new Set<string>()
  if (tracker.labelsAndMilestones !== undefined) {
    const query = tracker.labelsAndMilestones({ repositoryId }, portContext(call, call.actor))
    const { labels, milestones } = await portAnswerOf(call, query)
    for (const label of labels) {
      named.add(label.name)
      yield { kind: 'label', label }
    }
    for (const milestone of milestones) yield { kind: 'milestone', milestone }
  }

  const pages = pagesOf(tracker, call, repositoryId, (issues) => commentsOf(tracker, call, repositoryId, issues))
  for await (const page of pages) {
    const comments = byIssue(page.comments)
    for (const issue of page.issues) {
      for (const label of issue.labels ?? []) {
        if (named.has(label.name)) continue
        named.add(label.name)
        yield { kind: 'label', label }
      }
      yield { kind: 'issue', issue }
      for (const comment of comments.get(issue.number) ?? []) yield { kind: 'comment', comment }
    }
  }
}

/** Issues that were read at once, and comments of them. */
interface Page {
  readonly issues: readonly IssueRecord[]
  readonly comments: readonly CommentRecord[]
}

/** Reads the issues in pages, so that no transaction and no cursor stays open. */
async function* pagesOf<A extends Actor, Tx>(
  tracker: IssueTracker<A, Tx>,
  call: Call<A, Tx>,
  repositoryId: Id,
  readComments: (issues: readonly IssueRecord[]) => MaybePromise<Page['comments']>,
): AsyncGenerator<Page, void, void> {
  let after = 0
  let limit = FIRST_PAGE
  for (;;) {
    call.signal?.throwIfAborted()
    const query = { repositoryId, after, limit }
    const answers = await portAnswerOf(call, tracker.issues(query, portContext(call, call.actor)))
    for (const { number } of answers) {
      if (!(number > after)) throw new TypeError('issues.issues must return ascending numbers above `after`')
      after = number
    }
    if (answers.length === 0) return
    const issues = answers.filter(isIssue)
    const page = { issues, comments: await readComments(issues) }
    limit = Math.min(2 * limit, issuesThatFit(page), MAX_PAGE)
    yield page
  }
}

/** Returns how many issues such as these a page has: one at least. */
function issuesThatFit({ issues, comments }: Page): number {
  if (issues.length === 0) return MAX_PAGE
  return Math.max(1, Math.floor((issues.length * PAGE_SIZE) / (sizeOf(issues) + sizeOf(comments))))
}

function commentsOf<A extends Actor, Tx>(
  tracker: IssueTracker<A, Tx>,
  call: Call<A, Tx>,
  repositoryId: Id,
  issues: readonly IssueRecord[],
): MaybePromise<readonly CommentRecord[]> {
  if (tracker.comments === 'none' || issues.length === 0) return []

  const numbers = issues.map(({ number }) => number)
  return portAnswerOf(call, tracker.comments({ repositoryId, numbers }, portContext(call, call.actor)))
}

function byIssue(comments: readonly CommentRecord[]): ReadonlyMap<number, readonly CommentRecord[]> {
  const grouped = new Map<number, CommentRecord[]>()
  for (const comment of comments) {
    const group = grouped.get(comment.issue_number)
    if (group === undefined) grouped.set(comment.issue_number, [comment])
    else group.push(comment)
  }
  return grouped
}
