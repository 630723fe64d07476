import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { isForgeError } from 'forgelet'
import type { CommandIO } from './command.ts'
import { printable } from './command.ts'

type Level = 'error' | 'warn' | 'info'

/** The log of a server: one line for each event. A logger of the forge that also logs what the server does. */
export type ServerLog = { readonly [L in Level]: (message: string, fields?: object) => void }

/** Writes an event as one line. */
export type EventWriter = (level: Level, message: string, fields?: object) => void

const PREFIXES = { error: 'error: ', warn: 'warning: ', info: '' } as const

/**
 * Writes for people. Each line has the causes of the error and the place where it was thrown. On a terminal it begins with
 * the local time; what collects the lines of a service adds its own.
 */
export function textWriter(io: Pick<CommandIO, 'err' | 'showStatus'>): EventWriter {
  return (level, message, fields) => {
    const time = io.showStatus === undefined ? '' : `${new Date().toTimeString().slice(0, 8)} `
    io.err(`${time}forgelet: ${PREFIXES[level]}${message}${fields === undefined ? '' : ` ${inOneLine(fields)}`}`)
  }
}

function inOneLine(fields: object): string {
  const lines = inspect(fields, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 5 }).split('\n')
  return lines.map((line) => line.trim()).join(' ') // one expression for this would be quadratic in a run of blanks
}

/** Writes for programs. Each line is a JSON object with `time`, `level` and `message`, and the fields beside them. */
export function jsonWriter(io: Pick<CommandIO, 'err'>): EventWriter {
  return (level, message, fields) =>
    io.err(JSON.stringify({ time: new Date(), level, message, ...fields }, (_key, value) => plain(value)))
}

/** Converts a value that JSON lacks. The driver's own errors have many more fields, some of which quote values. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  const code = 'code' in value ? value.code : undefined
  return { name, message, code, details: isForgeError(value) ? value.details : undefined, stack, cause }
}

/** How often failures are counted that were already logged, in milliseconds. */
const COUNT_EVERY_MS = 10_000

/**
 * Creates a log. While the database is away, every request fails: the first failure of a reason is logged whole, then
 * every ten seconds how many more there were. After ten seconds without one, the next is a first again.
 */
export function serverLog(write: EventWriter): ServerLog {
  const more = new Map<string, number>()
  const writeOrCount: EventWriter = (level, message, fields) => {
    const reason = databaseFailure(fields)
    if (reason === undefined) return write(level, message, fields)
    const count = more.get(reason)
    if (count !== undefined) return void more.set(reason, count + 1)
    more.set(reason, 0)
    write(level, message, fields)
    const timer = setInterval(() => {
      const failures = more.get(reason) ?? 0
      more.set(reason, 0)
      if (failures > 0) return write(level, `${message}, as before`, { reason, failures })
      more.delete(reason)
      clearInterval(timer)
    }, COUNT_EVERY_MS).unref()
  }
  return {
    error: (message, fields) => writeOrCount('error', message, fields),
    warn: (message, fields) => writeOrCount('warn', message, fields),
    info: (message, fields) => writeOrCount('info', message, fields),
  }
}

/** The codes of a failure of the database and of its cause; undefined for any other error. */
function databaseFailure(fields: object = {}): string | undefined {
  const error = 'error' in fields ? fields.error : undefined
  if (!isForgeError(error) || !/^(STORAGE|SCHEMA)_/.test(error.code)) return undefined
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? `${error.code}, ${String(cause.code)}` : error.code
}

/**
 * Returns a listener of a server that logs each request when its response has been sent, or its client has gone. The
 * query is left out: clients of other forges send tokens in it.
 */
export function requestLog(log: ServerLog): (request: IncomingMessage, response: ServerResponse) => void {
  return ({ method, url = '' }, response) => {
    const began = performance.now()
    response.once('close', () => {
      const path = printable(url.replace(/\?.*$/s, ''))
      const status = response.headersSent ? response.statusCode : undefined
      log.info('request', { method, path, status, milliseconds: Math.round(performance.now() - began) })
    })
  }
}
