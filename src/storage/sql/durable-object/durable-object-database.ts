/** What a Durable Object keeps its data in (`ctx.storage`), by the calls that are made on it. Everything on it answers at once. */
export interface DurableObjectDatabase {
  readonly sql: {
    /** Runs a statement with its parameters; integers come back as numbers. */
    exec(
      query: string,
      ...bindings: unknown[]
    ): {
      /** Every row, as an object by column name. */
      toArray(): unknown[]
    }
  }
  /** Runs work all or nothing; inside another such call it is a part of that. */
  transactionSync<T>(work: () => T): T
}

/** @throws TypeError when a value is no such storage. That of an object without SQLite says so itself when it is used. */
export function refuseOthers(value: unknown): void {
  if (typeof value !== 'object' || value === null || !('transactionSync' in value) || !('sql' in value)) {
    throw new TypeError('a Durable Object storage needs the ctx.storage of a Durable Object')
  }
}
