import { quietly } from '../schema/quietly.ts'
import type { Logger } from './ports.ts'

/** The host's logger, from which nothing comes back: not what it throws, and not what it rejects with. */
export function quietLogger(logger: Logger): Logger {
  return {
    error: (message, fields) => quietly(() => logger.error(message, fields)),
    warn: (message, fields) => quietly(() => logger.warn(message, fields)),
  }
}
