/** The values that the host binds and reads. */
export type SqlValue = string | number | null

/** The part of a synchronous SQLite driver that the host uses. */
export interface SqlHandle {
  prepare(sql: string): { all(...parameters: SqlValue[]): unknown[]; run(...parameters: SqlValue[]): unknown }
  exec(sql: string): unknown
}

/** Runs SQL on one handle and caches its prepared statements. */
export class SqlSession {
  readonly #handle: SqlHandle
  readonly #statements = new Map<string, ReturnType<SqlHandle['prepare']>>()

  constructor(handle: SqlHandle) {
    this.#handle = handle
  }

  /** Returns the rows of a query. `Row` names the columns that the SQL selects. */
  all<Row>(sql: string, ...parameters: readonly SqlValue[]): readonly Row[] {
    // The driver does not know what the SQL selects. Each caller declares the type next to its SQL.
    return this.#prepared(sql).all(...parameters) as Row[]
  }

  /** Returns the first row of a query, if any. */
  first<Row>(sql: string, ...parameters: readonly SqlValue[]): Row | undefined {
    return this.all<Row>(sql, ...parameters)[0]
  }

  /** Returns true if a query finds a row. */
  has(sql: string, ...parameters: readonly SqlValue[]): boolean {
    return this.all(sql, ...parameters).length > 0
  }

  /** Runs a statement that returns no rows. */
  run(sql: string, ...parameters: readonly SqlValue[]): void {
    this.#prepared(sql).run(...parameters)
  }

  /** Inserts one row. The keys are the columns. */
  insert(table: string, row: { readonly [column: string]: SqlValue }): void {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join(', ')
    this.run(`insert into ${table} (${columns.join(', ')}) values (${places})`, ...Object.values(row))
  }

  /** Runs statements without parameters and without preparing them. */
  exec(sql: string): void {
    this.#handle.exec(sql)
  }

  #prepared(sql: string): ReturnType<SqlHandle['prepare']> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known

    const statement = this.#handle.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}
