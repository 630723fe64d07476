import { createRequire } from 'node:module'
import type { Violation } from '../index.ts'

/** How a command ends: done, the input is invalid, wrong usage, the database cannot be used. */
export type ExitCode = 0 | 1 | 2 | 3

/** How many violations a command prints; `--json` has them all. */
const MAX_PRINTED_VIOLATIONS = 20

/** Ends a command with a message of one line, the violations it is about, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: ExitCode
  /** What is wrong with the input; empty or undefined when the message says it all. */
  readonly violations: readonly Violation[] | undefined

  constructor(exitCode: ExitCode, message: string, violations?: readonly Violation[]) {
    super(printable(message))
    this.exitCode = exitCode
    this.violations = violations
  }

  /** What is printed without `--json`: the message, then one line for each violation. */
  lines(): readonly string[] {
    const { message, violations = [] } = this
    const rest = violations.length - MAX_PRINTED_VIOLATIONS
    return [
      `forgelet: ${message}`,
      ...violations
        .slice(0, MAX_PRINTED_VIOLATIONS)
        .map((violation) => printable(`${violation.pointer || 'the document'}: ${violation.message}`))
        .map((line) => `  ${line}`),
      ...(rest > 0 ? [`  and ${rest} more; --json lists all of them`] : []),
    ]
  }
}

/** One line without control characters: they could move the cursor of the terminal and hide the rest. */
function printable(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .trim()
}

/** The environment variables that commands read. */
export interface Environment {
  /** The database, where `--db` is not given; empty = not set. */
  readonly FORGELET_DB?: string | undefined
}

/** Where a command writes, how it is told to stop, and its environment. */
export interface CommandIO {
  /** A line of result. */
  out(line: string): void
  /** A line of message. */
  err(line: string): void
  /** Aborted when the command shall stop (Ctrl-C). */
  readonly stop: AbortSignal
  readonly environment: Environment
}

/** The version of this package. */
export function packageVersion(): string {
  const require = createRequire(import.meta.url)
  // The package finds itself by its own name, from the sources as from the build.
  const { version } = require('forgelet/package.json') as { readonly version: string }
  return version
}
