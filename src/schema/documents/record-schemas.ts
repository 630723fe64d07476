import type { CommentRecord, ExchangeRecord, IssueRecord, LabelRecord, ReactionRecord } from '../issue-record.ts'
import { MAX_VIOLATIONS } from '../text.ts'
import type { Check } from './check.ts'
import { checkOfEach, checkOfRecord, checkOfValue, firstFindings } from './check.ts'
import {
  assigneeDefinition,
  commentFrameDefinition,
  issueFrameDefinition,
  labelDefinition,
  milestoneDefinition,
  reactionDefinition,
} from './definitions.ts'

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

// `z.compile` makes a check several times faster where the runtime allows code generation from strings. It has no
// effect elsewhere.

const labelCheck: Check<LabelRecord> = checkOfRecord(labelDefinition)

const reactionCheck: Check<ReactionRecord> = checkOfRecord(reactionDefinition)

const frame = checkOfRecord(issueFrameDefinition)
const labels = checkOfEach(labelCheck, 'expected an array of labels')
const reactions = checkOfEach(reactionCheck, 'expected an array of reactions')
const assignees = checkOfEach(checkOfValue(assigneeDefinition), 'expected an array of user names')

/** Checks one issue: first its own properties, then the elements of its lists. */
export const issueCheck: Check<IssueRecord> = {
  fits: (value): value is IssueRecord =>
    frame.fits(value) &&
    (!('labels' in value) || labels.fits(value.labels)) &&
    (!('reactions' in value) || reactions.fits(value.reactions)) &&
    (!('assignees' in value) || assignees.fits(value.assignees)),
  *findings(value, path) {
    yield* frame.findings(value, path)
    if (typeof value !== 'object' || value === null) return

    if ('labels' in value) yield* labels.findings(value.labels, [...path, 'labels'])
    if ('reactions' in value) yield* reactions.findings(value.reactions, [...path, 'reactions'])
    if ('assignees' in value) yield* assignees.findings(value.assignees, [...path, 'assignees'])
  },
}

const commentFrame = checkOfRecord(commentFrameDefinition)

const commentCheck: Check<CommentRecord> = {
  fits: (value): value is CommentRecord =>
    commentFrame.fits(value) && (!('reactions' in value) || reactions.fits(value.reactions)),
  *findings(value, path) {
    yield* commentFrame.findings(value, path)
    if (typeof value !== 'object' || value === null || !('reactions' in value)) return
    yield* reactions.findings(value.reactions, [...path, 'reactions'])
  },
}

/** The check of each kind of exchange record. */
export const recordChecks: { readonly [Kind in ExchangeRecord['kind']]: Check<unknown> } = {
  label: labelCheck,
  milestone: checkOfRecord(milestoneDefinition),
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

// zod's own Standard Schema is not used: it copies the value, and returns a promise when reading the value throws.
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
