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

const PAGE = 200

/** Yields the issues of a repository, as `ExchangeService.export` does. */
export async function* exportIssues<A extends Actor, Tx>(
  environment: Environment<A, Tx>,
  tracker: IssueTracker<A, Tx>,
  call: Call<A, Tx>,
  repositoryId: Id,
): AsyncGenerator<IssueRecord, void, void> {
  await authorize(environment, call, { action: 'issues.export', repositoryId })
  // Not yield*, which waits twice for each issue.
  for await (const issues of pagesOf(tracker, call, repositoryId)) for (const issue of issues) yield issue
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

  for await (const issues of pagesOf(tracker, call, repositoryId)) {
    const comments = byIssue(await commentsOf(tracker, call, repositoryId, issues))
    for (const issue of issues) {
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

/** Reads the issues in pages, so that no transaction and no cursor stays open. */
async function* pagesOf<A extends Actor, Tx>(
  tracker: IssueTracker<A, Tx>,
  call: Call<A, Tx>,
  repositoryId: Id,
): AsyncGenerator<readonly IssueRecord[], void, void> {
  let after = 0
  for (;;) {
    call.signal?.throwIfAborted()
    const query = { repositoryId, after, limit: PAGE }
    const page = await portAnswerOf(call, tracker.issues(query, portContext(call, call.actor)))
    for (const { number } of page) {
      if (!(number > after)) throw new TypeError('issues.issues must return ascending numbers above `after`')
      after = number
    }
    if (page.length === 0) return
    yield page.filter(isIssue)
  }
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
