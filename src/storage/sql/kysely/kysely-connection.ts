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
  /** The error to throw for what a statement failed with. */
  readonly translate: (error: unknown) => unknown
  /** Puts before a statement what is set for its time. */
  readonly prepare?: ((statement: Statement<unknown>) => string) | undefined
  /** Ends the transaction that a statement has begun, on a connection that commits nothing by itself. */
  readonly commitEach?: Statement<unknown> | undefined
  /** Hears of each error, as the driver threw it. */
  readonly failed?: ((error: unknown) => void) | undefined
}

/** A Kysely that is bound to one connection, and runs our statements there as they are: the host's plugins left out. */
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

/** The same connection as a part of a transaction. */
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
