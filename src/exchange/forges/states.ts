import type { IssueRecord } from '../../schema/issue-record.ts'

/** The states of issues and milestones in most forms. */
export const STATES: ReadonlyMap<string, IssueRecord['state']> = new Map([
  ['open', 'open'],
  ['closed', 'closed'],
])
