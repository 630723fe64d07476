import { ForgeError } from './errors.ts'
import { MAX_VIOLATIONS } from './text.ts'
import type { Violation } from './violation.ts'

/** Creates the error for a document that is not valid. @param total - how many violations there are, if not all are given */
export function invalidDocument(
  violations: readonly Violation[],
  total: number = violations.length,
): ForgeError<'INVALID_DOCUMENT'> {
  const more = total > 1 ? `, and ${total - 1} more` : ''
  const message = `the document is invalid: ${violations.slice(0, 1).map(describe).join()}${more}`
  return new ForgeError('INVALID_DOCUMENT', message, { violations: violations.slice(0, MAX_VIOLATIONS), total })
}

function describe({ pointer, message, line, file }: Violation): string {
  const position = [file, line === undefined ? undefined : `line ${line}`, pointer].filter(Boolean).join(', ')
  return position === '' ? message : `${position}: ${message}`
}
