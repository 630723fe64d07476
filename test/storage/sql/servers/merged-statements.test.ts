import { expect, test } from 'vitest'
import type { Statement } from '../../../../src/storage/sql/query.ts'
import { MergedStatements } from '../../../../src/storage/sql/servers/merged-statements.ts'

const insert: Statement<unknown> = {
  sql: 'insert into a values ($1, $2) returning id',
  parameters: ['x', 2],
  returnsRows: true,
}
const update: Statement<unknown> = { sql: 'update b set c = $1 where d = $2', parameters: [3, 'y'], returnsRows: false }

test('statements are merged with their parameters in order, and each gets its own rows', () => {
  const merged = new MergedStatements().of([insert, update, insert])

  expect(merged?.statement.sql).toContain('values ($5, $6)')
  expect(merged?.statement.sql).toContain('c = $3 where d = $4')
  expect(merged?.statement.parameters).toEqual(['x', 2, 3, 'y', 'x', 2])
  expect(
    merged?.rowsOfEach([
      { statement: 2, row: '{"id":"8"}' },
      { statement: 0, row: '{"id":"7"}' },
    ]),
  ).toEqual([[{ id: '7' }], [], [{ id: '8' }]])
})

test('a text of the host that looks like a parameter is sent by itself', () => {
  const withText = { ...update, sql: `${update.sql} and e = '$3'` }

  expect(new MergedStatements().of([insert, withText])).toBeUndefined()
})

test('statements that return nothing, and a change with many events, are not merged', () => {
  expect(new MergedStatements().of([update, update])).toBeUndefined()
  expect(new MergedStatements().of(Array.from({ length: 13 }, () => insert))).toBeUndefined()
})

test('a change that is one statement runs each in its order, and fails if one returns no row that it needs', () => {
  const lock = { ...insert, needs: 'retired = 0' }
  const { statement, rowsOfEach } = new MergedStatements().of([lock, update, insert], true) ?? fail()

  expect(statement.sql).toMatch(/statement_1 as \(update b set c = \$3 where d = \$4 returning 1\)/)
  expect(statement.sql).toMatch(
    /from statement_0 union all .* from statement_1 union all .* from statement_2 union all /,
  )
  expect(statement.sql).toContain('when exists (select from statement_0 where retired = 0) then')
  expect(
    rowsOfEach([
      { statement: -1, row: '' },
      { statement: 2, row: '{"id":"7"}' },
    ]),
  ).toEqual([[], [], [{ id: '7' }]])
})

function fail(): never {
  throw new Error('they are not merged')
}
