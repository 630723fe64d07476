import { isObject } from '../../schema/arguments.ts'
import { isDateTime } from '../../schema/date-time.ts'
import type { Violation } from '../../schema/errors.ts'
import type { CommentRecord, ExchangeRecord, IssueRecord, ReactionRecord } from '../../schema/issue-record.ts'

type Find = (path: string, code: string, message: string) => void

/**
 * Returns why a record cannot be imported: what an import needs beyond the schemas, and what it would fail on if a host
 * passes records that nothing has validated. Source: docs/behaviour.md, Exchange
 *
 * @returns violations whose pointers begin at the record
 */
export function violationsOf(record: ExchangeRecord): readonly Violation[] {
  const violations: Violation[] = []
  const find: Find = (path, code, message) => violations.push({ pointer: path, code, message })
  switch (record?.kind) {
    case 'label':
      if (checkObject(record.label, find)) checkLabel(record.label, '', find)
      break
    case 'milestone':
      if (checkObject(record.milestone, find)) checkMilestone(record.milestone, find)
      break
    case 'issue':
      if (checkObject(record.issue, find)) checkIssue(record.issue, find)
      break
    case 'comment':
      if (checkObject(record.comment, find)) checkComment(record.comment, find)
      break
    default:
      find('', 'type', 'expected a label, a milestone, an issue or a comment')
  }
  return violations
}

function checkObject(value: unknown, find: Find): boolean {
  if (isObject(value)) return true

  find('', 'type', 'expected an object')
  return false
}

function checkIssue(issue: IssueRecord, find: Find): void {
  checkNumber(issue.number, '/number', find)
  checkAuthor(issue, find)
  checkText(issue.title, '/title', find)
  checkText(issue.content, '/content', find)
  checkOptionalText(issue.ref, '/ref', find)
  checkOptionalText(issue.milestone, '/milestone', find)
  checkState(issue.state, find)
  if (typeof issue.is_locked !== 'boolean') find('/is_locked', 'type', 'expected true or false')
  checkTimes(issue, find)
  if (issue.closed !== undefined && issue.closed !== null) checkTime(issue.closed, '/closed', find)
  for (const [index, label] of listOf(issue.labels, '/labels', find)) {
    if (isObject(label)) checkLabel(label, `/labels/${index}`, find)
    else find(`/labels/${index}`, 'type', 'expected a label')
  }
  checkReactions(issue.reactions, find)
  for (const [index, name] of listOf(issue.assignees, '/assignees', find)) checkText(name, `/assignees/${index}`, find)
}

function checkComment(comment: CommentRecord, find: Find): void {
  checkNumber(comment.issue_number, '/issue_number', find)
  checkAuthor(comment, find)
  checkText(comment.content, '/content', find)
  checkTimes(comment, find)
  checkReactions(comment.reactions, find)
}

function checkMilestone(
  milestone: Extract<ExchangeRecord, { readonly kind: 'milestone' }>['milestone'],
  find: Find,
): void {
  checkText(milestone.title, '/title', find)
  checkOptionalText(milestone.description, '/description', find)
  checkState(milestone.state, find)
  for (const name of ['deadline', 'created', 'updated', 'closed'] as const) {
    const time = milestone[name]
    if (time !== undefined && time !== null) checkTime(time, `/${name}`, find)
  }
}

function checkLabel(label: NonNullable<IssueRecord['labels']>[number], path: string, find: Find): void {
  checkText(label.name, `${path}/name`, find)
  checkOptionalText(label.color, `${path}/color`, find)
  checkOptionalText(label.description, `${path}/description`, find)
}

function checkReactions(reactions: readonly ReactionRecord[] | undefined, find: Find): void {
  for (const [index, reaction] of listOf(reactions, '/reactions', find)) {
    const path = `/reactions/${index}`
    if (!isObject(reaction)) {
      find(path, 'type', 'expected a reaction')
      continue
    }
    checkInteger(reaction.user_id, `${path}/user_id`, find)
    checkOptionalText(reaction.user_name, `${path}/user_name`, find)
    checkText(reaction.content, `${path}/content`, find)
  }
}

function checkAuthor(record: IssueRecord | CommentRecord, find: Find): void {
  checkInteger(record.poster_id, '/poster_id', find)
  checkText(record.poster_name, '/poster_name', find)
  checkOptionalText(record.poster_email, '/poster_email', find)
}

function checkTimes({ created, updated }: IssueRecord | CommentRecord, find: Find): void {
  checkTime(created, '/created', find)
  checkTime(updated, '/updated', find)
}

function checkNumber(number: number, path: string, find: Find): void {
  if (!(Number.isSafeInteger(number) && number >= 1)) {
    find(path, 'integer', 'expected an integer from 1 to 9007199254740991')
  }
}

/** A larger integer has been rounded when it was read. */
function checkInteger(id: number, path: string, find: Find): void {
  if (!Number.isSafeInteger(id)) {
    find(path, 'integer', 'expected an integer from -9007199254740991 to 9007199254740991')
  }
}

function checkState(state: string, find: Find): void {
  if (state !== 'open' && state !== 'closed') find('/state', 'choice', "expected 'open' or 'closed'")
}

function checkTime(time: string, path: string, find: Find): void {
  if (typeof time !== 'string' || !isDateTime(time)) find(path, 'date_time', 'expected an RFC 3339 date-time')
}

function checkOptionalText(text: string | undefined, path: string, find: Find): void {
  if (text !== undefined) checkText(text, path, find)
}

function checkText(text: string, path: string, find: Find): void {
  if (typeof text !== 'string') find(path, 'type', 'expected a string')
  else if (text.includes('\0')) find(path, 'nul', 'expected a string without NUL, which some databases cannot store')
  else if (!text.isWellFormed()) {
    find(path, 'surrogate', 'expected well-formed Unicode, without half of a surrogate pair')
  }
}

function listOf<T>(list: readonly T[] | undefined, path: string, find: Find): Iterable<[number, T]> {
  if (list === undefined) return []
  if (Array.isArray(list)) return list.entries()

  find(path, 'type', 'expected an array')
  return []
}
