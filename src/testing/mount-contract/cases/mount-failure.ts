import { AssertionError } from 'node:assert'

/** The facts that the error of a failed case reports. */
export interface FailureFacts {
  readonly sent: string
  readonly came: string
  readonly should: string
  readonly mend: string
}

/** Creates the error of a failed case: the request, the actual response, the expected response, and the advice. */
export function mountFailure({ sent, came, should, mend }: FailureFacts): Error {
  const lines = [`sent:   ${sent}`, `came:   ${came}`, `should: ${should}`, `mend:   ${mend}`]
  return new AssertionError({ message: lines.join('\n') })
}
