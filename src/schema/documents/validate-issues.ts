import { isObject, need } from '../arguments.ts'
import type { IssueRecord } from '../issue-record.ts'
import { refuseUnknown } from '../options.ts'
import { MAX_VIOLATIONS } from '../text.ts'
import type { Violation } from '../violation.ts'
import type { Finding } from './check.ts'
import { firstFindings, jsonPointer } from './check.ts'
import { issueListCheck } from './record-schemas.ts'

/** Options of `validateIssues`. */
export interface ValidateIssuesOptions {
  /** The maximum number of violations, in document order by issue: an integer from 1 up. Default 100. */
  readonly limit?: number | undefined
}

/** The result of a validation: the issues, which are the same value that was given, or the violations. */
export type IssueValidation =
  | { readonly valid: true; readonly issues: readonly IssueRecord[] }
  | { readonly valid: false; readonly violations: readonly Violation[] }

/**
 * Checks an issue document that was parsed from JSON or created by a program. Reports every violation up to a limit.
 * Each violation has a JSON pointer (`/17/created`), a code (`required`, `type`, `choice`, `date_time`,
 * `unknown_property`) and a message that says what was expected.
 * Source: docs/behaviour.md, Exchange.
 *
 * @throws TypeError when the limit is not an integer from 1 up
 */
export function validateIssues(value: unknown, options: ValidateIssuesOptions = {}): IssueValidation {
  need(isObject(options), 'validateIssues', 'options', 'an object such as { limit: 100 }')
  refuseUnknown<ValidateIssuesOptions>('validateIssues', options, { limit: true })
  const { limit = MAX_VIOLATIONS } = options
  if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError('limit must be an integer, 1 or greater')

  return issueListCheck.fits(value)
    ? { valid: true, issues: value }
    : { valid: false, violations: firstFindings(issueListCheck, value, limit).map(toViolation) }
}

function toViolation({ path, code, message }: Finding): Violation {
  return { pointer: jsonPointer(path), code, message }
}
