import type { PublicKey } from '../../schema/records.ts'
import type { Logger } from '../ports.ts'

const DAY_MS = 86_400_000
const WARNED_BEFORE_MS = 30 * DAY_MS

/** Warns an operator once a day whose signing key expires within 30 days, or has expired. */
export class KeyExpiry {
  #warnedAt = Number.NEGATIVE_INFINITY

  /** Called with each key that is served. */
  check({ format, expiresAt }: PublicKey, { logger, now }: { readonly logger: Logger; now(): Date }): void {
    if (expiresAt === undefined) return

    const time = now().getTime()
    const isFar = expiresAt.getTime() - time > WARNED_BEFORE_MS
    if (isFar || time - this.#warnedAt < DAY_MS) return
    this.#warnedAt = time
    const what = expiresAt.getTime() > time ? 'expires soon' : 'has expired'
    logger.warn(`the signing key ${what}; extend it, or sign with another`, { format, expiresAt })
  }
}
