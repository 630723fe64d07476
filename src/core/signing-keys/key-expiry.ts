import type { PublicKey } from '../../schema/records.ts'
import type { Logger } from '../ports.ts'

const DAY_MS = 86_400_000
const WARNED_BEFORE_MS = 30 * DAY_MS

/** Warns the operator of a signing key that is revoked, has expired, or expires within 30 days: once a day for each key and fault. */
export class KeyExpiry {
  /** When each warning was given, by fault and key. Those older than a day are removed. */
  readonly #warnedAt = new Map<string, number>()

  /** Called with each key that is served. */
  check(key: PublicKey, { logger, now }: { readonly logger: Logger; now(): Date }): void {
    if (key.expiresAt === undefined && key.isRevoked !== true) return
    const time = now().getTime()
    const fault = faultOf(key, time)
    if (fault === undefined) return
    const warning = `${fault} ${key.text}`
    if (time - (this.#warnedAt.get(warning) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return
    for (const [past, at] of this.#warnedAt) if (time - at >= DAY_MS) this.#warnedAt.delete(past)
    this.#warnedAt.set(warning, time)
    const { format, expiresAt } = key
    logger.warn(`the signing key ${fault}`, { format, ...(expiresAt && { expiresAt }) })
  }
}

function faultOf({ expiresAt, isRevoked }: PublicKey, time: number): string | undefined {
  if (isRevoked === true) return 'is revoked; sign with another'
  if (expiresAt === undefined || expiresAt.getTime() - time > WARNED_BEFORE_MS) return undefined
  return `${expiresAt.getTime() > time ? 'expires soon' : 'has expired'}; extend it, or sign with another`
}
