import { describe, expect, test } from 'vitest'
import type { PreparedStatement, SqliteHandle } from '../../../../src/storage/sql/sqlite/handle.ts'
import { PreparedStatements } from '../../../../src/storage/sql/sqlite/handle.ts'

/** A handle whose statements must be finalized, as those of bun:sqlite, and what was done with them. */
function finalizableHandle(): { readonly handle: SqliteHandle; readonly log: string[] } {
  const log: string[] = []
  const prepare = (sql: string): PreparedStatement => {
    log.push(`prepare ${sql}`)
    return Object.assign(statement(sql), { finalize: () => void log.push(`finalize ${sql}`) })
  }
  return { handle: { prepare, exec: () => undefined }, log }
}

function statement(sql: string): PreparedStatement {
  return { all: () => [sql], get: () => sql, run: () => undefined }
}

describe('statements that keep their handle until they are finalized', () => {
  test('are kept on our own handle, and released at the end', () => {
    const { handle, log } = finalizableHandle()
    const statements = new PreparedStatements(handle, 'us')
    for (const sql of ['a', 'b', 'a']) statements.use(sql, (one) => one.all())
    expect(log).toEqual(['prepare a', 'prepare b'])
    statements.end()

    expect(log.slice(2)).toEqual(['finalize a', 'finalize b'])
  })

  test('are let go when newer ones take their place', () => {
    const { handle, log } = finalizableHandle()
    const statements = new PreparedStatements(handle, 'us')
    for (let n = 0; n <= 200; n += 1) statements.use(`${n}`, (one) => one.all())

    expect(log.filter((line) => line.startsWith('finalize'))).toEqual(['finalize 0'])
  })

  test('are not kept on a handle of the host, whatever comes of them', () => {
    const { handle, log } = finalizableHandle()
    const statements = new PreparedStatements(handle, 'host')
    statements.use('a', (one) => one.all())
    const fail = (): never => {
      throw new Error('no')
    }
    expect(() => statements.use('b', fail)).toThrow('no')

    expect(log).toEqual(['prepare a', 'finalize a', 'prepare b', 'finalize b'])
  })
})
