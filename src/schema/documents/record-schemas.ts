import { MAX_VIOLATIONS } from '../text.ts'
import type { Check } from './check.ts'
import { firstFindings } from './check.ts'
import type { IssueRecord, LabelRecord, ReactionRecord } from './issue-record.ts'
import { issueCheck, issueListCheck, labelCheck, reactionCheck } from './record-checks.ts'
import type { Schema } from './standard-schema.ts'

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
