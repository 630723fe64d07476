import { isObject, need } from './arguments.ts'
import { isPromise } from './sync-or-async.ts'

/** The part of a logger that reports a failing observer. */
interface Warned {
  warn(message: string, fields: object): void
}

/**
 * Wraps an observer of the host so that its errors and rejections have no effect. The first one is logged as a warning;
 * later ones are not logged.
 */
export function safeObserver<Seen>(observe: (seen: Seen) => unknown, logger: Warned | undefined): (seen: Seen) => void {
  let hasFailed = false
  const failed = (error: unknown): void => {
    if (!hasFailed) warn(logger, error)
    hasFailed = true
  }
  return (seen) => {
    try {
      const answer = observe(seen)
      if (isPromise(answer)) Promise.resolve(answer).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

function warn(logger: Warned | undefined, error: unknown): void {
  ignoreErrors(() => logger?.warn('the observer failed; later failures of it are not logged', { error }))
}

/** Returns whether a value is an object whose methods of these names, if it has them, are functions. */
export function isObserver(value: unknown, methods: readonly string[]): boolean {
  if (!isObject(value)) return false
  return methods.every((name) => ['function', 'undefined'].includes(typeof Reflect.get(value, name)))
}

/** Calls a function, such as the host's logger, and ignores its errors and rejections. */
export function ignoreErrors(call: () => unknown): void {
  try {
    const answer = call()
    if (isPromise(answer)) Promise.resolve(answer).catch(() => undefined)
  } catch {
    // An error of the logger cannot be logged.
  }
}

/** The same shape as the port `Logger` in the core. */
interface Sink {
  error(message: string, fields: object): void
  warn(message: string, fields: object): void
}

/**
 * Converts the `logger` option to a logger that never throws. The errors and rejections of the host's logger are
 * ignored. Undefined means `console.error`; false disables logging.
 *
 * @param caller - the public function that was given the option, for the error message
 * @throws TypeError when the option is not a logger
 */
export function toLogger(caller: string, option: Sink | false | undefined): Sink {
  if (option === false) return SILENT
  if (option === undefined) return CONSOLE

  const isSink = isObject(option) && typeof option.error === 'function' && typeof option.warn === 'function'
  need(isSink, caller, 'logger', 'an object with error(message, fields) and warn(message, fields), or false')
  return {
    error: (message, fields) => ignoreErrors(() => option.error(message, fields)),
    warn: (message, fields) => ignoreErrors(() => option.warn(message, fields)),
  }
}

const SILENT: Sink = { error: () => undefined, warn: () => undefined }
const CONSOLE: Sink = { error: toConsole, warn: toConsole }

function toConsole(message: string, fields: object): void {
  // biome-ignore lint/suspicious/noConsole: the default logger; hosts can pass their own logger, or false
  ignoreErrors(() => console.error(`forgelet: ${message}`, fields))
}
