/** What the host binds and reads. */
export type SqlValue = string | number | null

/** The part of a synchronous SQLite driver that the host calls. */
export interface SqlHandle {
  prepare(sql: string): { all(...parameters: SqlValue[]): unknown[]; run(...parameters: SqlValue[]): unknown }
  exec(sql: string): unknown
}

/** Runs SQL on one handle and keeps its statements prepared. */
export class SqlSession {
  readonly #handle: SqlHandle
  readonly #statements = new Map<string, ReturnType<SqlHandle['prepare']>>()

  constructor(handle: SqlHandle) {
    this.#handle = handle
  }

  /** The rows of a query. `Row` names the columns that the SQL selects. */
  all<Row>(sql: string, ...parameters: readonly SqlValue[]): readonly Row[] {
    // The driver cannot know what the SQL selects; each call's type stands next to its SQL.
    return this.#prepared(sql).all(...parameters) as Row[]
  }

  /** The first row of a query, if any. */
  first<Row>(sql: string, ...parameters: readonly SqlValue[]): Row | undefined {
    return this.all<Row>(sql, ...parameters)[0]
  }

  /** Whether a query finds a row. */
  has(sql: string, ...parameters: readonly SqlValue[]): boolean {
    return this.all(sql, ...parameters).length > 0
  }

  /** Runs a statement that gives no rows. */
  run(sql: string, ...parameters: readonly SqlValue[]): void {
    this.#prepared(sql).run(...parameters)
  }

  /** Writes one row; the keys are the columns. */
  insert(table: string, row: { readonly [column: string]: SqlValue }): void {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join(', ')
    this.run(`insert into ${table} (${columns.join(', ')}) values (${places})`, ...Object.values(row))
  }

  /** Runs statements without parameters, unprepared. */
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
