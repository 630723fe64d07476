import type { SqlDialectName, SqlStatement, SqlValue } from 'forgelet/storage'

/** A part of a statement: texts, and what is between them. `Row` is the shape of the rows that the statement returns. */
export interface Sql<Row = unknown> {
  readonly texts: readonly string[]
  readonly between: readonly (SqlValue | Sql)[]
  /** Carries the type only; never present at run time. */
  readonly row?: Row
}

/** Writes a part of a statement. A value becomes a parameter. */
export function sql<Row = unknown>(texts: readonly string[], ...between: readonly (SqlValue | Sql)[]): Sql<Row> {
  return { texts, between }
}

/** A text that is part of a statement as it is. */
export function raw(text: string): Sql {
  return { texts: [text], between: [] }
}

/** Puts commas between parts, of which there is at least one. */
export function joined(parts: readonly (SqlValue | Sql)[]): Sql {
  return { texts: ['', ...parts.slice(1).map(() => ', '), ''], between: parts }
}

/** Returns a statement as a database takes it. */
export function statementIn<Row>(dialect: SqlDialectName, part: Sql<Row>): SqlStatement<Row> {
  const parameters: SqlValue[] = []
  const write = ({ texts, between }: Sql): string => {
    let text = texts[0] ?? ''
    for (const [at, one] of between.entries()) {
      if (isPart(one)) text += write(one)
      else text += dialect === 'postgres' ? `$${parameters.push(one)}` : parameters.push(one) && '?'
      text += texts[at + 1] ?? ''
    }
    return text
  }
  return { sql: write(part), parameters }
}

function isPart(one: SqlValue | Sql): one is Sql {
  return typeof one === 'object' && one !== null && 'between' in one
}

/** How a database writes what the others write otherwise. */
export interface SqlForms {
  /** The types of columns. A `key` is a text that can be in a key. */
  readonly types: { readonly integer: string; readonly key: string; readonly text: string; readonly serial: string }
  /** What is behind the columns of a table; whether the database assigns its key. */
  tableEnd(isNumbered: boolean): string
  /** A name. */
  name(name: string): string
  /** Reads an integer so that every driver returns a number. */
  number(expression: Sql): Sql
  /** Values as the list of an `in`. */
  elements(values: readonly (number | string)[], type: 'integer' | 'text'): Sql
}

const EXACT = 'character set utf8mb4 collate utf8mb4_nopad_bin'

/** The forms of each database. */
export const FORMS: Readonly<Record<SqlDialectName, SqlForms>> = {
  sqlite: {
    types: { integer: 'integer', key: 'text', text: 'text', serial: 'integer primary key autoincrement' },
    tableEnd: (isNumbered) => (isNumbered ? 'strict' : 'strict, without rowid'),
    name: (name) => `"${name}"`,
    number: (expression) => expression,
    elements: (values, type) => sql`(select cast(value as ${raw(type)}) from json_each(${JSON.stringify(values)}))`,
  },
  // Drivers return bigint as text. A double is always a number.
  postgres: {
    types: { integer: 'bigint', key: 'text', text: 'text', serial: 'bigint primary key generated always as identity' },
    tableEnd: () => '',
    name: (name) => `"${name}"`,
    number: (expression) => sql`cast(${expression} as double precision)`,
    elements: (values, type) =>
      sql`(select cast(value as ${raw(type === 'integer' ? 'bigint' : 'text')}) from json_array_elements_text(cast(cast(${JSON.stringify(values)} as text) as json)))`,
  },
  mariadb: {
    types: {
      integer: 'bigint',
      key: `varchar(255) ${EXACT}`,
      text: `longtext ${EXACT}`,
      serial: 'bigint primary key auto_increment',
    },
    tableEnd: () => `engine = InnoDB row_format = dynamic default ${EXACT}`,
    name: (name) => `\`${name}\``,
    number: (expression) => sql`cast(${expression} as double)`,
    // The length exceeds that of any key, so a text that is cut to it matches no key.
    elements: (values, type) =>
      sql`(select ${raw(type === 'integer' ? 'cast(element as signed)' : 'element')} from json_table(${JSON.stringify(values)}, '$[*]' columns (element varchar(256) ${raw(EXACT)} path '$')) as list)`,
  },
}
