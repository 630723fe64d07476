import { inspect } from 'node:util'
import type { Logger } from '../index.ts'
import type { Terminal } from './terminal.ts'

/** Warnings and unexpected failures, on the terminal. */
export function stderrLogger(terminal: Terminal): Logger {
  const write = (level: string) => (message: string, fields: object) =>
    terminal.err(`forgelet: ${level}: ${message} ${inspect(fields, { breakLength: Number.POSITIVE_INFINITY })}`)
  return { error: write('error'), warn: write('warning') }
}
