import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { translateError } from '../../../../src/storage/sql/sqlite/connection.ts'

/** An error as node:sqlite throws it: the result code is a number. */
function numbered(errcode: number): Error {
  return Object.assign(new Error('of node:sqlite'), { code: 'ERR_SQLITE_ERROR', errcode })
}

/** An error as better-sqlite3 throws it: the result code is a name. */
function named(code: string): Error {
  return new Database.SqliteError('of better-sqlite3: select secret from /srv/forge.sqlite', code)
}

/** An error as a Durable Object throws it: the result code ends the message. */
function reported(code: string): Error {
  return new Error(`of a Durable Object: ${code}`)
}

describe('an error of the driver', () => {
  test.each([named('SQLITE_BUSY'), named('SQLITE_BUSY_SNAPSHOT'), named('SQLITE_LOCKED'), numbered(5), numbered(517)])(
    'is STORAGE_BUSY where others hold the database: %s',
    (error) => {
      expect(translateError(error, 'call')).toMatchObject({
        code: 'STORAGE_BUSY',
        details: { retry: 'call' },
        cause: error,
      })
      expect(translateError(error, 'host-transaction')).toMatchObject({ details: { retry: 'host-transaction' } })
    },
  )

  test.each([
    [named('SQLITE_FULL'), 'the disk is full'],
    [named('SQLITE_IOERR_WRITE'), 'the disk failed to read or write the database'],
    [named('SQLITE_NOTADB'), 'the file is not an SQLite database'],
    [named('SQLITE_CORRUPT'), 'the database is damaged'],
    [named('SQLITE_READONLY'), 'the database cannot be written'],
    [numbered(13), 'the disk is full'],
    [reported('SQLITE_FULL'), 'the disk is full'],
    [reported('SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)'), 'the disk failed to read or write the database'],
    [numbered(778), 'the disk failed to read or write the database'],
  ])('is STORAGE_UNAVAILABLE without its text where the database cannot be used: %s', (error, message) => {
    expect(translateError(error, 'call')).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      details: { outcome: 'nothing-done' },
      message,
      cause: error,
    })
  })

  test.each([
    new TypeError('The database connection is not open'),
    new Error('database is not open'),
    new RangeError('Cannot use a closed database'),
    new Error('Database has closed'),
    Object.assign(new Error('statement has been finalized'), { code: 'ERR_INVALID_STATE' }),
  ])('is STORAGE_UNAVAILABLE where the handle is closed: %s', (error) => {
    expect(translateError(error, 'call')).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: 'the handle is closed',
      cause: error,
    })
  })

  test.each([
    new TypeError('This database connection is busy executing a query'),
    Object.assign(new Error('cannot open savepoint - SQL statements in progress'), { code: 'SQLITE_BUSY' }),
    Object.assign(new Error('cannot commit transaction - SQL statements in progress'), { errcode: 5 }),
  ])('is a TypeError where a statement of the host is open, whatever its code says: %s', (error) => {
    expect(translateError(error, 'call')).toMatchObject({ name: 'TypeError', cause: error })
  })

  test.each([named('SQLITE_CONSTRAINT_UNIQUE'), numbered(19), new TypeError('of the host'), 'text', undefined])(
    'stays as it is where it is a fault: %s',
    (error) => {
      expect(translateError(error, 'call')).toBe(error)
    },
  )
})
