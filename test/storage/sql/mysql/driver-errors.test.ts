import { describe, expect, test } from 'vitest'
import { ForgeError } from '../../../../src/index.ts'
import { BrokenReference } from '../../../../src/storage/sql/errors.ts'
import { endsTransaction, saysLost, translateError } from '../../../../src/storage/sql/server/mariadb-errors.ts'

function errorWith(properties: object, message = 'select secret from forgelet_pins'): Error {
  return Object.assign(new Error(message), properties)
}

describe('an error of the driver', () => {
  test.each([1020, 1205, 1213, 1317, 1969])('with the number %i asks for another try', (errno) => {
    const error = errorWith({ errno, code: 'ER_X' })

    expect(translateError(error, 'call')).toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'call' },
      cause: error,
    })
    expect(translateError(error, 'host-transaction')).toMatchObject({ details: { retry: 'host-transaction' } })
  })

  test.each([1216, 1217, 1451, 1452])('with the number %i is a broken reference', (errno) => {
    expect(translateError(errorWith({ errno }), 'call')).toBeInstanceOf(BrokenReference)
  })

  test.each([1040, 1045, 1049, 1053, 1146, 1153, 1290, 1461, 1665, 1927])(
    'with the number %i says what is unavailable',
    (errno) => {
      const error = errorWith({ errno, code: 'ER_X' })

      expect(translateError(error, 'call')).toMatchObject({
        code: 'STORAGE_UNAVAILABLE',
        details: { outcome: 'nothing-done' },
        cause: error,
      })
    },
  )

  test.each([
    { code: 'ECONNREFUSED', errno: -111 },
    { code: 'ECONNRESET', errno: -104 },
    { code: 'ETIMEDOUT' },
    { code: 'ENOTFOUND' },
    { code: 'EAI_AGAIN' },
    { code: 'PROTOCOL_CONNECTION_LOST' },
    { code: 'HANDSHAKE_SSL_ERROR' },
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', fatal: true },
  ])('with %j is a lost server', (properties) => {
    expect(translateError(errorWith(properties), 'call')).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect(saysLost(errorWith(properties))).toBe(true)
  })

  test.each(['Pool is closed.', "Can't add new command when connection is in closed state"])(
    'that says "%s" is a lost server',
    (message) => {
      expect(translateError(errorWith({}, message), 'call')).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    },
  )

  test.each(['No connections available.', 'Queue limit reached.'])('that says "%s" is a busy pool', (message) => {
    expect(translateError(errorWith({}, message), 'call')).toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'call' },
    })
  })

  test('of a write in a transaction that can only read is misuse', () => {
    expect(translateError(errorWith({ errno: 1792 }), 'host-transaction')).toBeInstanceOf(TypeError)
  })

  test.each([1062, 1064, 1406])('with the number %i is a fault, and stays as it is', (errno) => {
    const error = errorWith({ errno, code: 'ER_X' })

    expect(translateError(error, 'call')).toBe(error)
  })

  test('is reported without its text, which contains the statement', () => {
    for (const properties of [{ errno: 1213 }, { errno: 1146 }, { errno: 1792 }, { code: 'ECONNRESET' }]) {
      expect(String(translateError(errorWith(properties), 'call'))).not.toMatch(/secret|forgelet_/)
    }
  })

  test('ends the whole transaction, or the statement alone', () => {
    const ends = [1020, 1205, 1213, 1305, 1452].filter((errno) => endsTransaction(errorWith({ errno })))

    expect(ends).toEqual([1020, 1213, 1305])
  })
})

test('our own error is unchanged', () => {
  const error = new ForgeError('PIN_LIMIT_REACHED', 'full', { kind: 'issue', limit: 3 })

  expect([translateError(error, 'call'), translateError(undefined, 'call')]).toEqual([error, undefined])
})
