import { inspect } from 'node:util'
import type { Logger } from '../index.ts'
import type { Terminal } from './terminal.ts'

/** Warnings and unexpected failures, on the terminal: one line each, with the causes of an error and where it was thrown. */
export function stderrLogger(terminal: Pick<Terminal, 'err'>): Logger {
  const write = (level: string) => (message: string, fields: object) =>
    terminal.err(`forgelet: ${level}: ${message} ${inOneLine(fields)}`)
  return { error: write('error'), warn: write('warning') }
}

function inOneLine(fields: object): string {
  const lines = inspect(fields, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 5 }).split('\n')
  return lines.map((line) => line.trim()).join(' ') // one expression for this would be quadratic in a run of blanks
}
