/**
 * Selects one page of a list, either by its 1-based number or by `after`, the cursor of an earlier page. Paging by
 * cursor costs the same at any depth.
 */
export interface PageRequest {
  /** The number of the page, from 1. Default 1. Ignored when `after` is given. */
  readonly page?: number | undefined
  /** The `cursor` of an earlier page. */
  readonly after?: string | undefined
  /** The maximum number of items on the page, 1 to 1,000. Default 30. */
  readonly limit?: number | undefined
}

/** One page of a list that is not counted. */
export interface CursorPage<T> {
  readonly items: readonly T[]
  readonly limit: number
  /** Pass this as `after` to get the next page. Undefined on the last page. */
  readonly cursor: string | undefined
}

/** One page of a list. */
export interface Page<T> extends CursorPage<T> {
  /**
   * The number of all items of the list in the same snapshot. Undefined on a page by cursor, if the storage has to count the
   * items.
   */
  readonly total: number | undefined
}
