import type { Violation } from '../index.ts'

/** How a command ends: done, the input is invalid, wrong usage, the database cannot be used. */
export type ExitCode = 0 | 1 | 2 | 3

/** Ends a command with one line for the person, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: ExitCode
  /** What `--json` adds. */
  readonly violations: readonly Violation[] | undefined

  constructor(exitCode: ExitCode, message: string, violations?: readonly Violation[]) {
    super(message.replaceAll(/\s+/g, ' ').trim())
    this.exitCode = exitCode
    this.violations = violations
  }
}
