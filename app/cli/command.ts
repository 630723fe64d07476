import { createRequire } from 'node:module'
import type { Command } from '@commander-js/extra-typings'
import type { Violation } from 'forgelet'

/** The exit code of a command: see `EXIT_CODES`. */
export type ExitCode = 0 | 1 | 2 | 3

/** The exit codes of every command. */
export const EXIT_CODES: readonly string[] = [
  '0 done',
  '1 the input is not valid, or something is left to do',
  '2 wrong usage, or a file or port that cannot be used',
  '3 the database cannot be used, or stopped by a signal before the end',
]

/** What every command has. */
export type ResultOptions = {
  /** Prints results and errors as one JSON line. */
  readonly json?: true | undefined
}

/**
 * Adds a command.
 *
 * @param help - lines below the options: a line break, examples, and what matters
 */
export function newCommand(
  parent: Command,
  name: string,
  description: string,
  help: string,
): Command<[], ResultOptions> {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print results and errors as one JSON line')
    .addHelpText('after', `\nExamples${help}`)
}

/** The maximum number of violations that a command prints. `--json` prints all of them. */
const MAX_PRINTED_VIOLATIONS = 100

/** Ends a command with a one-line message, the violations, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: ExitCode
  /** The violations of the input; empty or undefined if the message is complete on its own. */
  readonly violations: readonly Violation[] | undefined

  constructor(exitCode: ExitCode, message: string, violations?: readonly Violation[]) {
    super(printable(message))
    this.exitCode = exitCode
    this.violations = violations
  }

  /** Returns the lines to print without `--json`: the message, then one line for each violation. */
  lines(): readonly string[] {
    const { message, violations = [] } = this
    const rest = violations.length - MAX_PRINTED_VIOLATIONS
    return [
      `forgelet: ${message}`,
      ...violations.slice(0, MAX_PRINTED_VIOLATIONS).map((violation) => `  ${violationLine(violation)}`),
      ...(rest > 0 ? [`  and ${rest} more; --json lists all of them`] : []),
    ]
  }
}

/** Returns a violation as one line: where it is, and what was expected. */
export function violationLine({ file, line, pointer, message }: Violation): string {
  const position = file === undefined && line !== undefined ? `line ${line}` : [file, line].filter(Boolean).join(':')
  return printable([position, pointer || 'the document', message].filter((part) => part !== '').join(': '))
}

/**
 * Converts a text to one line without control characters, which could move the cursor of the terminal and hide the
 * rest.
 */
export function printable(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .trim()
}

/** Returns a number with its noun, such as "1 issue" or "1,200 issues". */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** The width of a progress bar. */
const BAR_WIDTH = 20

/**
 * Returns a bar, what is done, the speed and the time left.
 *
 * @param done - what was counted, such as `7 issues`; empty: nothing but bytes
 * @param size - the bytes of the whole source; undefined = unknown, then there is neither a bar nor a time left
 */
export function progress(done: string, bytes: number, milliseconds: number, size: number | undefined): string {
  const speed = `${(bytes / 1e3 / milliseconds).toFixed(1)} MB/s`
  const soFar = done === '' ? speed : `${done}  ${speed}`
  if (!size) return soFar

  const share = Math.min(1, bytes / size)
  const bar = '#'.repeat(share * BAR_WIDTH).padEnd(BAR_WIDTH, '.')
  const left = ((1 / share - 1) * milliseconds) / 1000
  const time = left < 60 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${soFar}  ${time} left`
}

/** The environment variables that commands read. */
export interface Environment {
  /**
   * The database to use if `--db` is not given; empty = not set. Use it for a URL with a password: other users of the
   * machine can see the command line, but not the environment.
   */
  readonly FORGELET_DB?: string | undefined
  /** The same for `--to` of "forgelet copy". */
  readonly FORGELET_TO?: string | undefined
}

/** The output, the stop signal and the environment of a command. */
export interface CommandIO {
  /** Writes a line of the result. */
  out(line: string): void
  /** Writes a line of a message. */
  err(line: string): void
  /** Writes bytes of the result, and resolves when they are written. Rejects if the stream is closed. */
  write(bytes: Uint8Array): Promise<void>
  /** Shows a line on the terminal in place of the one before; an empty one clears it. Undefined: stderr is no terminal. */
  readonly showStatus: ((line: string) => void) | undefined
  /** Aborted when the command should stop (Ctrl-C). */
  readonly stop: AbortSignal
  readonly environment: Environment
  /** What a command sets that ends without an error, but not with exit code 0. */
  exitCode?: ExitCode
}

/** Writes the result of a command: with `--json` as one line, else as lines for people. */
export function printResult(io: CommandIO, { json }: ResultOptions, result: object, lines: readonly string[]): void {
  for (const line of json ? [JSON.stringify(result)] : lines) io.out(line)
}

/** Resolves when the command should stop. */
export async function toldToStop({ stop }: Pick<CommandIO, 'stop'>): Promise<void> {
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
}

/** Returns the version of this package. */
export function packageVersion(): string {
  const require = createRequire(import.meta.url)
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the package resolves its own name, in the sources too
  const { version } = require('forgelet/package.json') as { readonly version: string }
  return version
}
