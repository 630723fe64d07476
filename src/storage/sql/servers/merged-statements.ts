import type { SqlValue, Statement } from '../query.ts'
import { rowsOf } from '../query.ts'

/** A row of one of the statements that were merged. */
interface MergedRow {
  /** Which of them, from 0. */
  readonly statement: number
  /** Its row, as JSON. */
  readonly row: string
}

/** One statement in place of several. */
interface Merged {
  readonly statement: Statement<MergedRow>
  /** Returns the rows of each of the several. */
  rowsOfEach(rows: readonly unknown[]): readonly (readonly unknown[])[]
}

/** The merged texts of statements that begin with the same ones. */
interface MergedTexts {
  /** The text of exactly these statements; empty if they cannot be merged. */
  text?: string
  readonly next: Map<string, MergedTexts>
}

/**
 * Merges statements of PostgreSQL that are independent of one another: it runs those of one `with` on one state of the rows.
 * Each costs a round trip otherwise, because most pools wait for an answer before they send what comes next.
 */
export class MergedStatements {
  /** By the text of each statement in turn. A joined key would be built and hashed again for every change. */
  readonly #texts: MergedTexts = { next: new Map() }

  /**
   * Returns one statement in place of several; undefined if they cannot be merged.
   *
   * @param isGuarded - whether they run in their order, and fail if one returns no row that it needs. The rows of those that need one are
   * not returned
   */
  of(statements: readonly Statement<unknown>[], isGuarded = false): Merged | undefined {
    let texts = this.#texts
    for (const { sql } of statements) {
      let next = texts.next.get(sql)
      if (next === undefined) {
        next = { next: new Map() }
        texts.next.set(sql, next)
      }
      texts = next
    }
    texts.text ??= merge(statements, isGuarded) ?? ''
    const sql = texts.text
    if (sql === '') return undefined

    const parameters: SqlValue[] = []
    for (const statement of statements) parameters.push(...statement.parameters)
    return {
      statement: { sql, parameters, returnsRows: true },
      rowsOfEach(rows) {
        const each: unknown[][] = statements.map(() => [])
        for (const { statement, row } of rowsOf<MergedRow>(rows)) each[statement]?.push(JSON.parse(row))
        return each
      },
    }
  }
}

/** More statements are not merged: there would be a text for each number of events. A grant of five badges has so many. */
const MAX_MERGED = 12

/** The server evaluates the branches of `union all` in their order, and then the statements that return no rows. */
function merge(statements: readonly Statement<unknown>[], isGuarded: boolean): string | undefined {
  if (statements.length > MAX_MERGED) return undefined
  let before = 0
  const branches: string[] = []
  const merged: string[] = []
  const needs: string[] = []
  for (const [index, { sql, parameters, returnsRows, needs: needed }] of statements.entries()) {
    // A text of the host's may contain what only looks like a parameter.
    if ((sql.match(PARAMETER) ?? []).length !== parameters.length) return undefined
    const start = before
    before += parameters.length
    const name = `statement_${index}`
    const end = isGuarded && !returnsRows ? ' returning 1' : ''
    merged.push(`${name} as (${sql.replaceAll(PARAMETER, (_, number) => `$${Number(number) + start}`)}${end})`)
    if (isGuarded && needed !== undefined) needs.push(`exists (select from ${name} where ${needed})`)
    if (returnsRows && (!isGuarded || needed === undefined)) {
      const row = `cast(pg_catalog.to_json(${name}) as text) as "row"`
      branches.push(`select cast(${index} as double precision) as "statement", ${row} from ${name}`)
    } else if (isGuarded) {
      // A statement runs when its branch is read: this one has a branch so that it runs in its order.
      branches.push(`select cast(-1 as double precision) as "statement", cast('' as text) as "row" from ${name}`)
    }
  }
  if (needs.length > 0) branches.push(`select -1, case when ${needs.join(' and ')} then '' else ${FAILURE} end`)
  return branches.length === 0 ? undefined : `with ${merged.join(', ')} ${branches.join(' union all ')}`
}

const PARAMETER = /\$(\d+)/g

/** Fails when it is evaluated. The server writes the text to its log. */
const FAILURE =
  "cast(cast(pg_catalog.concat('forgelet: not possible at once, repeated with locks') as boolean) as text)"
