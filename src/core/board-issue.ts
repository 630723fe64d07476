import { needObject } from '../schema/arguments.ts'
import { toId } from '../schema/ids.ts'
import type { IssueRef, PinKind } from '../schema/records.ts'
import type { BoardIssue } from '../storage/contract/stores.ts'

/** An example of an issue, for error messages. */
export const ISSUE_EXAMPLE = "{ id: 7, repositoryId: 10, kind: 'issue' }"

/** Checks an issue or pull request of the host, and returns it with canonical ids. @throws TypeError when it is malformed */
export function toBoardIssue(issue: IssueRef): BoardIssue {
  needObject(issue, 'issue', ISSUE_EXAMPLE)
  const { id, repositoryId, kind } = issue
  return {
    issueId: toId(id, 'issue.id'),
    repositoryId: toId(repositoryId, 'issue.repositoryId'),
    kind: toPinKind(kind),
  }
}

/** Checks the kind of a pin board. @throws TypeError when there is no such kind */
export function toPinKind(kind: PinKind): PinKind {
  if (kind === 'issue' || kind === 'pullRequest') return kind
  throw new TypeError("the kind of a pin must be 'issue' or 'pullRequest'")
}
