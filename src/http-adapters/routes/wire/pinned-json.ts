import type { Pin } from '../../../schema/records.ts'

/**
 * The pinned list: the presenter's objects in order of position, `pin_order` written over; those that are gone are left out.
 *
 * @param shown - one per pin, in the same order, without a `toJSON`: they are copied
 */
export function pinnedJson(pins: readonly Pin[], shown: readonly (object | undefined)[]): readonly object[] {
  return pins.flatMap(({ position }, index) => {
    const thing = shown[index]
    return thing === undefined ? [] : [{ ...thing, pin_order: position }]
  })
}
