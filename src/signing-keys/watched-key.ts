import { setTimeout as delay } from 'node:timers/promises'
import type { Logger, SigningKeyContext, SigningKeySource } from '../core/ports.ts'
import { ForgeError, isForgeError } from '../schema/errors.ts'
import type { PublicKey, SigningKeyFormat } from '../schema/records.ts'
import type { MaybePromise } from '../schema/sync-or-async.ts'

/**
 * Inspects a key that may change, in a file or in git.
 *
 * @returns a stamp that distinguishes one state of it from another, and what reads the key of this state
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`, and so does `read`
 */
export type InspectKey = () => Promise<{ readonly stamp: string; readonly read: () => Promise<PublicKey> }>

/** The time between two inspections. */
const CHECK_INTERVAL_MS = 250
/** How long a request waits for an inspection. A slower one goes on meanwhile. */
const MAX_WAIT_MS = 200
/** How long it waits once a change was seen: gpg may be asked for the new key. */
const MAX_READ_MS = 2000
/** A program that writes a file does not pause longer. */
const DEBOUNCE_MS = 100
/** How long the last good key is served while the file cannot be read: it may be in the middle of being written. */
const MAX_STALE_MS = 2000

/**
 * Reads a key that may change, and watches it: requests inspect it, and it is read again only if it has changed.
 *
 * @param name - for the log: `the key file is /etc/forge/key.asc`
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`; its `cause` has the name, its message does not
 */
export async function watchKey(name: string, inspect: InspectKey): Promise<SigningKeySource> {
  async function inspectFirst() {
    const { stamp, read } = await inspect()
    return { stamp, key: await read() }
  }
  let { key, stamp } = await inspectFirst().catch((error: unknown) => {
    throw named(name, error)
  })
  let failure: { readonly error: unknown; readonly since: number; readonly isLogged: boolean } | undefined
  let checkedAt = performance.now()
  let checking: Promise<void> | undefined
  let isStale = false

  async function checkAgain(logger: Logger | undefined): Promise<void> {
    try {
      const seen = await inspect()
      isStale = seen.stamp !== stamp
      if (isStale) {
        await delay(DEBOUNCE_MS)
        const current = await inspect()
        if (current.stamp !== seen.stamp) return // it is being written

        key = await current.read()
        stamp = current.stamp
      }
      if (failure?.isLogged === true) logger?.warn('the signing key can be read again', { key: name })
      failure = undefined
    } catch (error) {
      failure = { since: performance.now(), isLogged: false, ...failure, error: named(name, error) }
    } finally {
      checkedAt = performance.now()
      checking = undefined
      isStale = false
    }
  }

  function served(format: SigningKeyFormat | undefined, logger: Logger | undefined): PublicKey {
    if (failure === undefined || performance.now() - failure.since < MAX_STALE_MS) return key
    if (logger !== undefined && !failure.isLogged) {
      logger.error('the signing key has become unreadable', { error: failure.error })
      failure = { ...failure, isLogged: true }
    }
    if (format === undefined || format === key.format) throw failure.error
    return key
  }

  function waited(format: SigningKeyFormat | undefined, logger: Logger | undefined): MaybePromise<PublicKey> {
    const left = checkedAt + (isStale ? MAX_READ_MS : MAX_WAIT_MS) - performance.now()
    if (checking === undefined || left <= 0) return served(format, logger)
    return Promise.race([checking, delay(left, undefined, { ref: false })]).then(() => waited(format, logger))
  }

  return {
    servesBoth: true,
    /** While the key cannot be read, the last known format. */
    get format() {
      return key.format
    },
    publicKey({ format, logger, mayWait }: SigningKeyContext = {}) {
      const now = performance.now()
      if (checking === undefined && now - checkedAt >= CHECK_INTERVAL_MS) {
        checkedAt = now
        checking = checkAgain(logger)
      }
      return mayWait === false ? served(format, logger) : waited(format, logger)
    },
  }
}

/** The error of a key has its name in its cause: messages reach callers. */
function named(name: string, error: unknown): unknown {
  if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) return error
  const cause = new Error(name, { cause: error.cause })
  return new ForgeError('SIGNING_KEY_UNREADABLE', error.message, undefined, { cause })
}
