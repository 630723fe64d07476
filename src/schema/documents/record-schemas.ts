import { isDateTime } from '../date-time.ts'
import type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  ReactionRecord,
} from '../issue-record.ts'
import { MAX_VIOLATIONS } from '../text.ts'
import type { Check } from './check.ts'
import { checkOfEach, checkOfRecord, checkOfValue, firstFindings, optional } from './check.ts'

/** One issue that a Standard Schema reports for a value. */
export interface SchemaIssue {
  readonly message: string
  /** Property names and array indexes from the value to the fault. Absent: the fault is in the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The result of a Standard Schema: the value, or the first 100 issues. */
export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/**
 * A schema for any library that accepts Standard Schema version 1. The interface is declared here structurally.
 * Validation is synchronous and never returns a promise.
 */
export interface Schema<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Checks a value without changing it. */
    readonly validate: (value: unknown) => SchemaResult<T>
    /** For type inference only. Always absent at run time. */
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

const text = checkOfValue('expected a string', isText)
const finiteNumber = checkOfValue('expected a finite number', (value): value is number => Number.isFinite(value))
const isLocked = checkOfValue('expected true or false', (value) => typeof value === 'boolean')
const state = checkOfValue(
  'expected "closed" or "open"',
  (value): value is 'open' | 'closed' => value === 'closed' || value === 'open',
  () => 'choice',
)
const A_DATE_TIME = 'expected an RFC 3339 date-time such as 2024-02-29T08:30:00Z'
const codeOfTime = (value: unknown) => (isText(value) ? 'date_time' : 'type')
const dateTime = checkOfValue(A_DATE_TIME, isTime, codeOfTime)
const dateTimeOrNull = checkOfValue(
  `${A_DATE_TIME}, or null`,
  (value): value is string | null => value === null || isTime(value),
  codeOfTime,
)

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTime(value: unknown): value is string {
  return isText(value) && isDateTime(value)
}

const labelCheck = checkOfRecord<LabelRecord>('a label', {
  name: text,
  color: optional(text),
  description: optional(text),
})

const reactionCheck = checkOfRecord<ReactionRecord>('a reaction', {
  user_id: finiteNumber,
  user_name: optional(text),
  content: text,
})

const reactions = optional(checkOfEach(reactionCheck, 'expected an array of reactions'))

/** Checks one issue: first its own properties, then the elements of its lists. */
export const issueCheck: Check<IssueRecord> = checkOfRecord<IssueRecord>('an issue', {
  number: finiteNumber,
  poster_id: finiteNumber,
  poster_name: text,
  poster_email: optional(text),
  title: text,
  content: text,
  ref: optional(text),
  milestone: optional(text),
  state,
  is_locked: isLocked,
  created: dateTime,
  updated: dateTime,
  closed: optional(dateTimeOrNull),
  labels: optional(checkOfEach(labelCheck, 'expected an array of labels')),
  reactions,
  assignees: optional(checkOfEach(text, 'expected an array of user names')),
})

/** No document has comments: it checks what other forges have. */
const commentCheck = checkOfRecord<CommentRecord>('a comment', {
  issue_number: finiteNumber,
  poster_id: finiteNumber,
  poster_name: text,
  poster_email: optional(text),
  created: dateTime,
  updated: dateTime,
  content: text,
  reactions,
})

const milestoneCheck = checkOfRecord<MilestoneRecord>('a milestone', {
  title: text,
  description: optional(text),
  deadline: optional(dateTimeOrNull),
  created: optional(dateTime),
  updated: optional(dateTime),
  closed: optional(dateTimeOrNull),
  state,
})

/** The check of each kind of exchange record. */
export const recordChecks: { readonly [Kind in ExchangeRecord['kind']]: Check<unknown> } = {
  label: labelCheck,
  milestone: milestoneCheck,
  issue: issueCheck,
  comment: commentCheck,
}

/** Checks an issue document. */
export const issueListCheck: Check<IssueRecord[]> = checkOfEach(issueCheck, 'expected an array of issues')

/**
 * An issue document as a Standard Schema. It accepts and rejects the same documents as `issueJsonSchema()`, returns the
 * same value that it was given, and reports the first 100 faults.
 */
export const issueListSchema: Schema<IssueRecord[]> = standardSchema(issueListCheck)

/** One issue of a document as a Standard Schema. */
export const issueSchema: Schema<IssueRecord> = standardSchema(issueCheck)

/** A label as a Standard Schema. */
export const labelSchema: Schema<LabelRecord> = standardSchema(labelCheck)

/** A reaction as a Standard Schema. */
export const reactionSchema: Schema<ReactionRecord> = standardSchema(reactionCheck)

function standardSchema<T>(check: Check<T>): Schema<T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'forgelet',
      validate: (value) => {
        if (check.fits(value)) return { value }

        const findings = firstFindings(check, value, MAX_VIOLATIONS)
        return { issues: findings.map(({ path, message }) => ({ path, message })) }
      },
    },
  }
}
