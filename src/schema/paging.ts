/** Which page of a list: by number (1-based), or `after` a cursor of an earlier page, which costs the same at any depth. */
export interface PageRequest {
  /** Default 1. Ignored when `after` is given. */
  readonly page?: number | undefined
  /** The `cursor` of an earlier page. */
  readonly after?: string | undefined
  /** Items on a page, 1 to 1,000. Default 30. */
  readonly limit?: number | undefined
}

/** One page of a list; `total` counts all items, in the same snapshot. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly total: number
  readonly limit: number
  /** Asks for the items after these; undefined when there are none. */
  readonly cursor: string | undefined
}
