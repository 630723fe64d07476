import { hasMethods, need } from '../schema/arguments.ts'
import { isPromise } from '../schema/sync-or-async.ts'
import type { Logger } from './ports.ts'

/**
 * Calls code of the host whose failure must change nothing, such as a logger.
 *
 * @param failed - called with its error or the reason of its rejection; must not throw
 */
export function quietly(call: () => unknown, failed: (error: unknown) => void = () => undefined): void {
  try {
    const answer = call()
    if (isPromise(answer)) Promise.resolve(answer).catch(failed)
  } catch (error) {
    failed(error)
  }
}

/** Wraps a method of the host's observer. Its first failure is logged as a warning; later ones are not logged. */
export function quietObserver<Seen>(observe: (seen: Seen) => unknown, logger: Logger): (seen: Seen) => void {
  let hasFailed = false
  const failed = (error: unknown): void => {
    if (!hasFailed) logger.warn('the observer failed; later failures of it are not logged', { error })
    hasFailed = true
  }
  return (seen) => quietly(() => observe(seen), failed)
}

/**
 * Converts the `logger` option to a logger that never throws. Undefined means `console.error`; false disables logging.
 *
 * @param caller - the public function that was given the option, for the error message
 * @throws TypeError when the option is not a logger
 */
export function quietLogger(caller: string, option: Logger | false | undefined): Logger {
  if (option === false) return { error: () => undefined, warn: () => undefined }
  if (option === undefined) return { error: toConsole, warn: toConsole }

  const expected = 'an object with error(message, fields) and warn(message, fields), or false'
  need(hasMethods(option, 'error', 'warn'), caller, 'logger', expected)
  return {
    error: (message, fields) => quietly(() => option.error(message, fields)),
    warn: (message, fields) => quietly(() => option.warn(message, fields)),
  }
}

function toConsole(message: string, fields: object): void {
  // biome-ignore lint/suspicious/noConsole: the default logger; hosts can pass their own logger, or false
  quietly(() => console.error(`forgelet: ${message}`, fields))
}
