import type { Statement } from '../query.ts'
import { plainRows } from '../query.ts'
import type { Deadline } from '../server/call-deadline.ts'
import type { ServerConnection } from '../server/server.ts'
import type { Queryable } from '../session.ts'
import type { KyselyExecutor, KyselyQuery } from './kysely-database.ts'

/** How statements run on a connection. */
export interface Running {
  /** The deadline of the call. */
  readonly deadline: Deadline
  /** Returns the error to throw for a failed statement. */
  readonly translate: (error: unknown) => unknown
  /** Prefixes a statement with its settings. */
  readonly prepare?: ((statement: Statement<unknown>) => string) | undefined
  /** Ends the transaction that a statement has begun, on a connection without autocommit. */
  readonly commitEach?: Statement<unknown> | undefined
  /** Called with each error, as the driver threw it. */
  readonly failed?: ((error: unknown) => void) | undefined
}

/** A Kysely that is bound to one connection. It runs our statements unchanged, without the host's plugins. */
export class KyselyConnection implements Queryable {
  readonly #executor: KyselyExecutor
  readonly #running: Running

  constructor(bound: KyselyExecutor, running: Running) {
    this.#executor = bound.withoutPlugins()
    this.#running = running
  }

  async all<Row>(statement: Statement<Row>): Promise<readonly Row[]> {
    const { deadline, translate, prepare, commitEach, failed } = this.#running
    try {
      const prepared = { ...statement, sql: prepare?.(statement) ?? statement.sql }
      const rows = await deadline.ask(() => this.#ask(prepared), statement.mayTakeLong)
      if (commitEach !== undefined) await deadline.ask(() => this.#ask(commitEach))
      return rows
    } catch (error) {
      failed?.(error)
      throw translate(error)
    }
  }

  async #ask<Row>({ sql, parameters, returnsRows }: Statement<Row>): Promise<readonly Row[]> {
    const { rows } = await this.#executor.executeQuery(asCompiled(sql, parameters))
    return returnsRows ? plainRows<Row>(rows) : []
  }
}

/** Returns the same connection as part of a transaction. */
export function inside<Tx>(transaction: Tx, connection: Queryable): ServerConnection<Tx> {
  return { transaction, all: (statement) => connection.all(statement) }
}

function asCompiled(sql: string, parameters: KyselyQuery['parameters']): KyselyQuery {
  return {
    sql,
    parameters,
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'forgelet' },
  }
}
