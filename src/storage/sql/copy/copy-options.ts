/** How much has been copied. */
export interface CopyProgress {
  readonly rows: number
  /** The rows of all tables. */
  readonly total: number
  /** The size of the rows, approximately. */
  readonly bytes: number
}

/** How a forge is copied. */
export interface CopyOptions {
  /** First empties the tables of the target, if a copy into them was interrupted. Default: false. */
  readonly empty?: boolean | undefined
  /** Ends the copy: the target stays incomplete. */
  readonly signal?: AbortSignal | undefined
  /** Is called for each page of rows. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined
  /**
   * Tables of the host that are copied too, in the same snapshot and before those of the forge: each behind those to which it
   * refers. They exist in the target, and are empty. Default: none.
   */
  readonly tables?: readonly CopiedTable[] | undefined
  /** Calls `work`, which reads or writes the target, and passes on what it returns: its errors are those of the target. */
  readonly inTarget?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
}

/** A table of the host that `copyForge` copies. */
export interface CopiedTable {
  /** What it is called in the report. */
  readonly name: string
  readonly from: CopiedTableLocation
  /** Default: as `from`. */
  readonly to?: CopiedTableLocation | undefined
  /** Every column, and what it holds: integers that are exact as numbers, or texts. */
  readonly columns: Readonly<Record<string, 'integer' | 'text'>>
  /** The columns of the primary key. Default: `id`, an integer that the database assigns, greater with each row. */
  readonly key?: readonly string[] | undefined
}

/** Where a table of the host is. */
export interface CopiedTableLocation {
  readonly table: string
  /** Default: that of the connection. */
  readonly schema?: string | undefined
}

/** What was copied. */
export interface CopyReport {
  /** The number of rows in each table, by its name without prefix; of a table of the host, by its `name`. */
  readonly rows: Readonly<Record<string, number>>
  /** How many events have another id in the target: on SQLite the id of an event is its position in the outbox. */
  readonly renumberedEvents: number
}
