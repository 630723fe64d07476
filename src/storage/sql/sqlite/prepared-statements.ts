import { saysFinalized } from './driver-errors.ts'
import type { PreparedStatement, SqliteHandle } from './handle.ts'

/** Statements kept for each handle; those of the audit view come in many shapes. */
const MEMO_SIZE = 200

/**
 * The statements of one handle, prepared once and used again. bun:sqlite is different: there a handle lives on, and keeps
 * its file, until each of its statements is finalized. Ours are finalized when we end; on the host's handle none is kept.
 */
export class PreparedStatements {
  readonly #handle: SqliteHandle
  readonly #owner: 'us' | 'host'
  readonly #kept = new Map<string, PreparedStatement>()

  /** @param owner - who closes the handle */
  constructor(handle: SqliteHandle, owner: 'us' | 'host') {
    this.#handle = handle
    this.#owner = owner
  }

  /** Runs work with a statement. */
  use<T>(sql: string, work: (statement: PreparedStatement) => T): T {
    const kept = this.#kept.get(sql)
    if (kept === undefined) return this.#useNew(sql, work)
    try {
      return work(kept)
    } catch (error) {
      if (!saysFinalized(error)) throw error
    }

    this.#kept.clear() // the host has closed its handle, which finalized them, and perhaps opened it again
    return this.#useNew(sql, work)
  }

  /** Lets go of every statement. */
  end(): void {
    for (const statement of this.#kept.values()) finalize(statement)
    this.#kept.clear()
  }

  #useNew<T>(sql: string, work: (statement: PreparedStatement) => T): T {
    const statement = this.#handle.prepare(sql)
    if (this.#owner === 'us' || !isFinalizable(statement)) {
      this.#keep(sql, statement)
      return work(statement)
    }
    try {
      return work(statement)
    } finally {
      finalize(statement)
    }
  }

  #keep(sql: string, statement: PreparedStatement): void {
    const [oldest] = this.#kept
    if (oldest !== undefined && this.#kept.size >= MEMO_SIZE) {
      this.#kept.delete(oldest[0])
      finalize(oldest[1])
    }
    this.#kept.set(sql, statement)
  }
}

function isFinalizable(statement: PreparedStatement): statement is PreparedStatement & { finalize(): unknown } {
  return 'finalize' in statement && typeof statement.finalize === 'function'
}

function finalize(statement: PreparedStatement): void {
  if (isFinalizable(statement)) statement.finalize()
}
