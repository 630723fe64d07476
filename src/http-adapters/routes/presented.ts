import type { Id } from '../../schema/ids.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { isPromise, wait } from '../../schema/sync-or-async.ts'
import { isNil } from './ports.ts'

/**
 * Calls the presenter once for a page, and not at all if the page is empty.
 *
 * @returns one object per id, as `JSON.stringify` would write it, and so safe to copy; undefined for an item that is
 * gone
 * @throws TypeError when the presenter does not return one object per id
 */
export function* presented(
  ids: readonly Id[],
  present: (ids: readonly Id[]) => MaybePromise<readonly (object | undefined)[]>,
): SyncOrAsync<readonly (object | undefined)[]> {
  if (ids.length === 0) return []

  const shown = yield* wait(present(ids))
  if (!Array.isArray(shown)) throw new TypeError('the presenter must give a list')
  if (shown.length !== ids.length) {
    throw new TypeError(`the presenter gave ${shown.length} objects for ${ids.length} ids`)
  }
  return shown.map(toShown)
}

function toShown(one: unknown): object | undefined {
  if (isNil(one)) return undefined
  if (typeof one !== 'object' || Array.isArray(one)) throw new TypeError('the presenter must give a list of objects')
  if (isPromise(one)) throw new TypeError('the presenter gave a list of promises: await them with Promise.all')
  return 'toJSON' in one && typeof one.toJSON === 'function' ? toShown(asJson(one)) : one
}

/** Converts an object to plain JSON. Copying its own properties instead would reveal what its `toJSON` hides. */
function asJson(one: object): unknown {
  const text: string | undefined = JSON.stringify(one)
  return text === undefined ? undefined : JSON.parse(text)
}
