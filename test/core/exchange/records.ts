import { writeIssues } from '../../../src/exchange/exchange.ts'
import type { CommentRecord, ExchangeRecord, IssueRecord } from '../../../src/index.ts'

/** An issue with the required properties, and those that are given. */
export function anIssue(number: number, given: Partial<IssueRecord> = {}): IssueRecord {
  return {
    number,
    poster_id: 7,
    poster_name: 'ada',
    title: `Issue ${number}`,
    content: 'It crashes.',
    state: 'open',
    is_locked: false,
    created: '2026-01-02T03:04:05Z',
    updated: '2026-01-03T03:04:05Z',
    ...given,
  }
}

/** A comment on an issue with the required properties, and those that are given. */
export function aComment(issue: number, content: string, given: Partial<CommentRecord> = {}): CommentRecord {
  return {
    issue_number: issue,
    poster_id: 8,
    poster_name: 'grace',
    created: '2026-01-04T03:04:05Z',
    updated: '2026-01-04T03:04:05Z',
    content,
    ...given,
  }
}

/** Each comment as a record of an exchange. */
export function commentsOf(...comments: readonly CommentRecord[]): readonly ExchangeRecord[] {
  return comments.map((comment) => ({ kind: 'comment', comment }))
}

/** All items of a source. */
export async function allOf<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of source) all.push(item)
  return all
}

/** What a writer makes of issues: their canonical document, if no other is named. */
export async function textOf(
  issues: Iterable<IssueRecord> | AsyncIterable<IssueRecord>,
  write: typeof writeIssues = writeIssues,
): Promise<string> {
  return Buffer.concat(await allOf(write(issues))).toString('utf8')
}
