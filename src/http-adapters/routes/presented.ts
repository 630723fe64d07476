import type { Id } from '../../schema/ids.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after, isPromise } from '../../schema/sync-or-async.ts'
import { isNil } from './ports.ts'

/**
 * Calls the presenter once for a page, and not at all if the page is empty.
 *
 * @returns one object per id, as `JSON.stringify` would write it, and so safe to copy; undefined for an item that is
 * gone
 * @throws TypeError when the presenter does not return one object per id
 */
export function presented(
  ids: readonly Id[],
  present: (ids: readonly Id[]) => MaybePromise<readonly (object | undefined)[]>,
): MaybePromise<readonly (object | undefined)[]> {
  return ids.length === 0 ? [] : after(present(ids), (shown) => toShownList(shown, ids.length))
}

function toShownList(shown: unknown, count: number): readonly (object | undefined)[] {
  if (!Array.isArray(shown)) throw new TypeError('the presenter must return an array')
  if (shown.length !== count) {
    throw new TypeError(`the presenter returned ${shown.length} objects for ${count} ids`)
  }
  return shown.map(toShown)
}

function toShown(one: unknown): object | undefined {
  if (isNil(one)) return undefined
  if (typeof one !== 'object' || Array.isArray(one))
    throw new TypeError('the presenter must return an array of objects')
  if (isPromise(one)) throw new TypeError('the presenter returned an array of promises: await them with Promise.all')
  return 'toJSON' in one && typeof one.toJSON === 'function' ? toShown(asJson(one)) : one
}

/** Converts an object to plain JSON. Copying its own properties instead would reveal what its `toJSON` hides. */
function asJson(one: object): unknown {
  const text: string | undefined = JSON.stringify(one)
  return text === undefined ? undefined : JSON.parse(text)
}
