import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SqlContext } from '../context.ts'
import type { HostTableName } from '../dialect.ts'
import { readingOf } from '../fields.ts'
import { HOST_THINGS } from '../ids.ts'
import type { Query, QueryValues, Slot, SqlValue, Statement } from '../query.ts'
import { compileStatement, defineQuery, rawQuery } from '../query.ts'
import type { TableDescription } from '../schema/tables.ts'
import { valueType } from '../schema/tables.ts'

/** A row, the same for every database: ids are texts, integers are numbers. */
export type CopiedRow = Readonly<Record<string, SqlValue>>

/** The number of rows of a table, and a number that grows with each change: if both are the same, the table has not changed. */
export interface TableState {
  readonly count: number
  readonly grown: number
}

/** What grows where rows are changed. Of other tables it is the key that the database assigns. */
const GROWING: Readonly<Record<string, string>> = { heads: 'sum(version)', consumers: 'sum(position)' }

/** The most rows that one statement inserts, and its most characters unless it is one row: servers limit them. */
const MAX_ROWS = 50
const MAX_CHARACTERS = 256_000

/** How all statements run: none of the rows is locked. */
const MARKS = { mayTakeLong: true, asWritten: true } as const

type Values = readonly SqlValue[]

/** The rows of one table, as they are read page by page, and inserted elsewhere. */
export class TableRows {
  readonly name: string
  readonly location: HostTableName
  /** Whether the database assigns the keys. */
  readonly isNumbered: boolean
  readonly #context: SqlContext
  readonly #types: ReadonlyMap<string, string>
  readonly #key: readonly string[]
  readonly #first: Query<Values, CopiedRow>
  readonly #next: Query<Values, CopiedRow>
  readonly #insertions = new Map<number, Query<Values, never>>()

  /**
   * @param name - what the table is called in a report; of a table of the forge, that without prefix
   * @param location - where the table is. Default: beside the others of the forge
   */
  constructor(context: SqlContext, name: string, { columns, key }: TableDescription, location?: HostTableName) {
    this.name = name
    this.location = location ?? { schema: context.schema, table: `${context.prefix}${name}` }
    this.isNumbered = key === undefined
    this.#context = context
    this.#types = new Map(Object.entries(columns).map(([column, type]) => [column, valueType(type)]))
    this.#key = key ?? ['id']
    this.#first = this.#pages(() => sql``)
    this.#next = this.#pages((given) => sql`where ${this.#isBehind(given)}`)
  }

  /** Returns the statement that reads the next rows, in the order of their key. */
  page(after: CopiedRow | undefined, limit: number): Statement<CopiedRow> {
    if (after === undefined) return this.#first([limit])
    return this.#next([limit, ...this.#key.map((column) => after[column] ?? null)])
  }

  /** Returns the statements that insert rows. */
  insertions(rows: readonly CopiedRow[]): readonly Statement<never>[] {
    return inGroups(rows).map((group) => {
      const insertion = this.#insertions.get(group.length) ?? this.#insertion(group.length)
      this.#insertions.set(group.length, insertion)
      return insertion(group.flatMap((row) => [...this.#types.keys()].map((column) => row[column] ?? null)))
    })
  }

  /** Returns the statement that reads the state of the table. */
  state(): Statement<TableState> {
    const { number } = this.#context.dialect
    const grown = sql.raw(GROWING[this.name] ?? (this.isNumbered ? 'max(id)' : '0'))
    return this.#compiled<TableState>(
      sql`select ${number(sql`count(*)`)} as count, ${number(sql`coalesce(${grown}, 0)`)} as grown from ${this.#table}`,
    )
  }

  /** Returns the statement that removes all rows. */
  removal(): Statement<unknown> {
    return this.#compiled(sql`delete from ${this.#table}`)
  }

  get #table(): RawBuilder<unknown> {
    const { schema, table } = this.location
    return schema === undefined ? sql.id(table) : sql.id(schema, table)
  }

  #compiled<Row>(text: RawBuilder<Row>): Statement<Row> {
    return { ...compileStatement(rawQuery(this.#context.build, text)), ...MARKS }
  }

  #pages(where: (given: QueryValues<Values>) => RawBuilder<unknown>): Query<Values, CopiedRow> {
    const reading = (column: string, type: string) => readingOf(this.#context.columns, column, type)
    const columns = [...this.#types].map(([column, type]) => sql`${reading(column, type)} as ${sql.id(column)}`)
    // Without the table, it would be the order of what is selected: ids as texts.
    const order = sql.join(this.#key.map((column) => sql.ref(`copied.${column}`)))
    return defineQuery((given) => {
      const page = sql<CopiedRow>`select ${sql.join(columns)} from ${this.#table} as copied ${where(given)} order by ${order} limit ${given(0)}`
      return rawQuery(this.#context.build, page)
    }, MARKS)
  }

  #insertion(count: number): Query<Values, never> {
    const names = [...this.#types.keys()]
    const { build, dialect } = this.#context
    const giving = this.isNumbered ? dialect.copying.givingKeys : sql``
    return defineQuery((given) => {
      const rows = Array.from({ length: count }, (_, row) => {
        return sql`(${sql.join(names.map((_name, column) => given(row * names.length + column)))})`
      })
      const insert = sql<never>`insert into ${this.#table} (${sql.join(names.map((name) => sql.id(name)))}) ${giving} values ${sql.join(rows)}`
      return rawQuery(build, insert)
    }, MARKS)
  }

  /** The condition that the key of a row is behind the one given. */
  #isBehind(given: QueryValues<Values>): RawBuilder<unknown> {
    const columns = this.#key.map((column) => sql.ref(column))
    const values = this.#key.map((column, at) => this.#bound(this.#types.get(column) ?? '', given(at + 1)))
    if (this.#context.dialect.copying.comparesRows) return sql`(${sql.join(columns)}) > (${sql.join(values)})`

    const alternatives = columns.map((column, at) => {
      const same = columns.slice(0, at).map((before, index) => sql`${before} = ${values[index]}`)
      return sql`(${sql.join([...same, sql`${column} > ${values[at]}`], sql` and `)})`
    })
    return sql`(${sql.join(alternatives, sql` or `)})`
  }

  #bound(type: string, slot: Slot<Values, SqlValue>): RawBuilder<unknown> {
    const { ids } = this.#context
    const kind = HOST_THINGS.find((thing) => thing === type)
    if (kind !== undefined) return ids.given(kind, slot.as(String))
    return type === 'key' || type === 'text' ? sql`${slot}` : ids.givenInteger(slot.as(String))
  }
}

/** Puts rows that follow each other into one group, as far as one statement may have them. */
function inGroups(rows: readonly CopiedRow[]): readonly (readonly CopiedRow[])[] {
  const groups: CopiedRow[][] = []
  let size = 0
  for (const row of rows) {
    const added = charactersOf(row)
    const group = groups.at(-1)
    const isFull = group === undefined || group.length === MAX_ROWS || size + added > MAX_CHARACTERS
    if (isFull) groups.push([row])
    else group.push(row)
    size = isFull ? added : size + added
  }
  return groups
}

/** Returns how many characters the texts of a row have. */
export function charactersOf(row: CopiedRow): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
}
