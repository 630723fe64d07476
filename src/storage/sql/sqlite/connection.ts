import type { MaybePromise } from '../../../schema/steps.ts'
import type { SqlValue, Statement } from '../query.ts'
import type { Session } from '../session.ts'
import type { Retry } from './driver-errors.ts'
import { translateError } from './driver-errors.ts'
import type { SqliteHandle } from './handle.ts'

/** Prepared statements kept per connection; those of the audit view come in many shapes. */
const MEMO_SIZE = 200

type Prepared = ReturnType<SqliteHandle['prepare']>

/** One handle as a session: statements are prepared once, and every answer comes at once. */
export class Connection implements Session {
  readonly #handle: SqliteHandle
  readonly #retry: Retry
  readonly #prepared = new Map<string, Prepared>()

  /** @param retry - what a busy database asks the caller to try again */
  constructor(handle: SqliteHandle, retry: Retry) {
    this.#handle = handle
    this.#retry = retry
  }

  all<Row>({ sql, parameters, returnsRows }: Statement<Row>): readonly Row[] {
    try {
      if (returnsRows) return toRows(this.#prepare(sql).all(...parameters))

      this.#prepare(sql).run(...parameters)
      return []
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  /** Nothing else runs meanwhile: what the host may not do is refused where it calls. */
  lend<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    return work()
  }

  /** Runs a statement that has no parameters, for what it does. */
  command(sql: string): void {
    this.all({ sql, parameters: NONE, returnsRows: false })
  }

  /** Runs a text of statements that may not be prepared, or give rows that nobody wants. */
  exec(sql: string): void {
    try {
      this.#handle.exec(sql)
    } catch (error) {
      throw translateError(error, this.#retry)
    }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known

    const prepared = this.#handle.prepare(sql)
    const [oldest] = this.#prepared.keys()
    if (oldest !== undefined && this.#prepared.size >= MEMO_SIZE) this.#prepared.delete(oldest)
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

const NONE: readonly SqlValue[] = []

/** Whole numbers come as bigint from a handle whose host asked for them; ids are text, so none of ours is large. */
function toRows<Row>(rows: readonly unknown[]): readonly Row[] {
  const plain = hasBigint(rows[0]) ? rows.map(withNumbers) : rows
  return plain as readonly Row[] // unknown data: the shape of a row was inferred from the query that asked for it
}

function hasBigint(row: unknown): boolean {
  return typeof row === 'object' && row !== null && Object.values(row).some((value) => typeof value === 'bigint')
}

function withNumbers(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row

  const entries: readonly (readonly [string, unknown])[] = Object.entries(row)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]))
}
