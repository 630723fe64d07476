import { describe, expect, it } from 'vitest'
import { hostContext } from '../../../src/standalone/host-store/host-tables.ts'
import type { Insertion } from '../../../src/standalone/host-store/insertion.ts'
import { defineInsertion } from '../../../src/standalone/host-store/insertion.ts'
import { createSqlContext } from '../../../src/storage/sql/context.ts'
import { sqliteDialect } from '../../../src/storage/sql/dialects/sqlite.ts'

interface Name {
  readonly issue_id: string
  readonly place: number
  readonly name: string
}

const insertNames: Insertion<Name> = defineInsertion(
  hostContext(createSqlContext(sqliteDialect, {})),
  'issue_assignee_names',
  { columns: { issue_id: 'integer', place: 'integer', name: 'text' } },
)

function names(count: number, name = 'ada'): readonly Name[] {
  return Array.from({ length: count }, (_, place) => ({ issue_id: '1', place, name }))
}

/** How many rows each statement inserts. */
function rowCounts(rows: readonly Name[]): readonly number[] {
  return insertNames(rows).map(({ statement }) => statement.parameters.length / 3)
}

describe('an insertion of values', () => {
  it('has no statement without rows', () => {
    expect(insertNames([])).toEqual([])
  })

  it('puts sixteen rows into one statement', () => {
    expect(rowCounts(names(16))).toEqual([16])
    expect(rowCounts(names(33))).toEqual([16, 16, 1])
  })

  it('keeps the rows in their order', () => {
    const places = insertNames(names(33)).flatMap(({ statement }) =>
      statement.parameters.filter((_, index) => index % 3 === 1),
    )
    expect(places).toEqual(Array.from({ length: 33 }, (_, place) => place))
  })

  it('puts few long texts into one statement', () => {
    expect(rowCounts(names(5, 'x'.repeat(40_000)))).toEqual([2, 2, 1])
    expect(rowCounts(names(2, 'x'.repeat(3_000_000)))).toEqual([1, 1])
  })

  it('has one text for each number of rows', () => {
    const [first, second, third] = insertNames(names(33)).map(({ statement }) => statement.sql)
    expect(first).toBe(second)
    expect(third).not.toBe(first)
    expect(third?.match(/\?/g)).toHaveLength(3)
  })
})
