import { AssertionError } from 'node:assert'

/** What is told of a case that failed. */
export interface FailureFacts {
  readonly sent: string
  readonly came: string
  readonly should: string
  readonly mend: string
}

/** The one error of a case: what was sent, what came, what should have come, and where to look. */
export function mountFailure({ sent, came, should, mend }: FailureFacts): Error {
  const lines = [`sent:   ${sent}`, `came:   ${came}`, `should: ${should}`, `mend:   ${mend}`]
  return new AssertionError({ message: lines.join('\n') })
}
