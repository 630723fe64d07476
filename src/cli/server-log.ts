import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import type { Logger } from '../index.ts'
import { isForgeError } from '../index.ts'
import type { CommandIO } from './command.ts'
import { printable } from './command.ts'

/** The log of a server: one line for each event. */
export interface ServerLog extends Logger {
  /** Logs what the server does. */
  info(message: string, fields?: object): void
}

/**
 * A log for people. Each line has the causes of the error and the place where it was thrown. On a terminal it begins with
 * the local time; what collects the lines of a service adds its own.
 */
export function textLog(io: Pick<CommandIO, 'err' | 'showStatus'>): ServerLog {
  const time = (): string => (io.showStatus === undefined ? '' : `${new Date().toTimeString().slice(0, 8)} `)
  const write = (level: string) => (message: string, fields?: object) =>
    io.err(`${time()}forgelet: ${level}${message}${fields === undefined ? '' : ` ${inOneLine(fields)}`}`)
  return { error: write('error: '), warn: write('warning: '), info: write('') }
}

/** How often failures are counted that were already logged, in milliseconds. */
const COUNT_EVERY_MS = 10_000

/**
 * A log for when the database is away, and every request fails: the first failure of a reason is logged whole, then every
 * ten seconds how many more there were. After ten seconds without one, the next is a first again.
 */
export function countedLog(log: ServerLog): ServerLog {
  const more = new Map<string, number>()
  const counted = (level: 'error' | 'warn') => (message: string, fields: object) => {
    const reason = storageFailure(fields)
    if (reason === undefined) return log[level](message, fields)
    const count = more.get(reason)
    if (count !== undefined) return void more.set(reason, count + 1)
    more.set(reason, 0)
    log[level](message, fields)
    const timer = setInterval(() => {
      const failures = more.get(reason) ?? 0
      if (failures > 0) {
        log[level](`${message}, as before`, { reason, failures })
        more.set(reason, 0)
      } else {
        more.delete(reason)
        clearInterval(timer)
      }
    }, COUNT_EVERY_MS).unref()
  }
  return { ...log, error: counted('error'), warn: counted('warn') }
}

/** The codes of a storage's failure and of its cause; undefined for any other error. */
function storageFailure(fields: object): string | undefined {
  const error = 'error' in fields ? fields.error : undefined
  if (!isForgeError(error, 'STORAGE_UNAVAILABLE') && !isForgeError(error, 'STORAGE_BUSY')) return undefined
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? `${error.code}, ${String(cause.code)}` : error.code
}

function inOneLine(fields: object): string {
  const lines = inspect(fields, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 5 }).split('\n')
  return lines.map((line) => line.trim()).join(' ') // one expression for this would be quadratic in a run of blanks
}

/** A log for programs. Each line is a JSON object with `time`, `level` and `message`, and the fields beside them. */
export function jsonLog(io: Pick<CommandIO, 'err'>): ServerLog {
  const write = (level: 'error' | 'warn' | 'info') => (message: string, fields?: object) =>
    io.err(JSON.stringify({ time: new Date(), level, message, ...fields }, plain()))
  return { error: write('error'), warn: write('warn'), info: write('info') }
}

/** Returns a replacer for values that JSON lacks: errors, bigints, and objects that contain themselves. */
function plain(): (key: string, value: unknown) => unknown {
  const seen = new Set<unknown>()
  return (_key, value) => {
    if (typeof value === 'bigint') return String(value)
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return '[seen above]'
    seen.add(value)
    return value instanceof Error ? errorFields(value) : value
  }
}

/** The driver's own errors have many more fields, some of which quote values. */
function errorFields(error: Error): object {
  const { name, message, stack, cause } = error
  const code = 'code' in error ? error.code : undefined
  return { name, message, code, details: isForgeError(error) ? error.details : undefined, stack, cause }
}

/**
 * Returns a listener of a server that logs each request when its response has been sent, or its client has gone. The
 * query is left out: clients of other forges send tokens in it.
 */
export function requestLog(log: ServerLog): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const began = performance.now()
    response.once('close', () => {
      const { method = '', url = '' } = request
      const path = printable(url.replace(/\?.*$/s, ''))
      const status = response.headersSent ? response.statusCode : undefined
      const milliseconds = Math.round(performance.now() - began)
      const aborted = response.writableFinished ? undefined : true
      log.info('request', { method, path, status, milliseconds, aborted })
    })
  }
}
