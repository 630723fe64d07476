import type { Id } from '../../../schema/ids.ts'
import type { MaybePromise, Steps } from '../../../schema/steps.ts'
import { wait } from '../../../schema/steps.ts'

/**
 * Asks the presenter once for a page; not at all when the page is empty.
 *
 * @throws TypeError when it does not give one object per id
 */
export function* presented(
  ids: readonly Id[],
  present: (ids: readonly Id[]) => MaybePromise<readonly (object | undefined)[]>,
): Steps<readonly (object | undefined)[]> {
  if (ids.length === 0) return []

  const shown = yield* wait(present(ids))
  if (shown.length === ids.length) return shown
  throw new TypeError(`the presenter gave ${shown.length} objects for ${ids.length} ids`)
}
