import { z } from 'zod'
import { MAX_VIOLATIONS } from '../text.ts'
import type { Check } from './check.ts'
import { checkOf, checkOfEach, firstFindings } from './check.ts'
import { assigneeDefinition, issueFrameDefinition, labelDefinition, reactionDefinition } from './definitions.ts'
import type { IssueRecord, LabelRecord, ReactionRecord } from './issue-record.ts'

/** One thing a Standard Schema refuses a value for. */
export interface SchemaIssue {
  readonly message: string
  /** Property names and array indexes from the value down to the fault; absent means the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a Standard Schema answers: the value, or what is wrong with it, the first 100 faults. */
export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A schema for any library that takes Standard Schema version 1, described by its structure. It answers at once, never with a promise. */
export interface Schema<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Checks a value; it is not changed. */
    readonly validate: (value: unknown) => SchemaResult<T>
    /** For type inference only; never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

// `z.compile` makes a check several times as fast where the runtime allows code from strings, and changes nothing elsewhere.

/** Checks a label. */
const labelCheck: Check<LabelRecord> = checkOf(z.compile(labelDefinition))

/** Checks a reaction. */
const reactionCheck: Check<ReactionRecord> = checkOf(z.compile(reactionDefinition))

const frame = checkOf(z.compile(issueFrameDefinition))
const labels = checkOfEach(labelCheck, 'expected an array of labels')
const reactions = checkOfEach(reactionCheck, 'expected an array of reactions')
const assignees = checkOfEach(checkOf(z.compile(assigneeDefinition)), 'expected an array of user names')

/** Checks one issue: first its own properties, then the elements of its lists. */
const issueCheck: Check<IssueRecord> = {
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

/** Checks an issue document. */
export const issueListCheck: Check<IssueRecord[]> = checkOfEach(issueCheck, 'expected an array of issues')

/** An issue document, as a Standard Schema: accepts and rejects what `issueJsonSchema()` does, and gives back the very value. Reports the first 100 faults. */
export const issueListSchema: Schema<IssueRecord[]> = standardSchema(issueListCheck)

/** One issue of a document, as a Standard Schema. */
export const issueSchema: Schema<IssueRecord> = standardSchema(issueCheck)

/** A label, as a Standard Schema. */
export const labelSchema: Schema<LabelRecord> = standardSchema(labelCheck)

/** A reaction, as a Standard Schema. */
export const reactionSchema: Schema<ReactionRecord> = standardSchema(reactionCheck)

// Not zod's own Standard Schema: that copies the value, and answers with a promise when looking at the value throws.
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
