import { isObject, need } from './arguments.ts'
import { isPromise } from './sync-or-async.ts'

/** What of a host's logger tells that his observer fails. */
interface Warned {
  warn(message: string, fields: object): void
}

/**
 * Makes an observer of the host's harmless: what it throws, or rejects with, is told to the logger the first time, and
 * changes nothing.
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

/** Calls a logger of the host's: what it throws, or rejects with, changes nothing, and has nowhere left to be told. */
export function ignoreErrors(call: () => unknown): void {
  try {
    const answer = call()
    if (isPromise(answer)) Promise.resolve(answer).catch(() => undefined)
  } catch {
    // nobody to tell
  }
}

/** A logger, as the port of the core has it. */
interface Sink {
  error(message: string, fields: object): void
  warn(message: string, fields: object): void
}

/**
 * The logger that an option names, from which nothing comes back: neither what it throws nor what it rejects with. Undefined
 * stands for `console.error`, false for nowhere.
 *
 * @param caller - the function that was given the option, for the message
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
  // biome-ignore lint/suspicious/noConsole: a failure must be seen somewhere; hosts that pass a logger, or false, never get here
  ignoreErrors(() => console.error(`forgelet: ${message}`, fields))
}
