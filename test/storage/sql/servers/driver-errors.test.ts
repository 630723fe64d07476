import { describe, expect, test } from 'vitest'
import { ForgeError } from '../../../../src/index.ts'
import { createSqlContext } from '../../../../src/storage/sql/context.ts'
import { mysqlDialect } from '../../../../src/storage/sql/dialects/mariadb.ts'
import { BrokenReference } from '../../../../src/storage/sql/errors.ts'
import { mariadbRules, mariadbRulesForTexts } from '../../../../src/storage/sql/servers/mariadb-rules.ts'
import { postgresRules } from '../../../../src/storage/sql/servers/postgres-rules.ts'

const { ids } = createSqlContext(mysqlDialect, { ids: { user: 'uuid' } })
const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const UNAVAILABLE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }

function errorWith(properties: object, message = 'select secret from forgelet_pins'): Error {
  return Object.assign(new Error(message), properties)
}

const fromPostgres = (code: string) => errorWith({ code, severity: 'ERROR' })
const fromMariadb = (errno: number) => errorWith({ errno, code: 'ER_X' })

describe('an error of PostgreSQL', () => {
  test.each(['40001', '40P01', '55P03', '57014', '25P02'])('with the state %s asks for another try', (state) => {
    const error = fromPostgres(state)

    expect(postgresRules.translate(error, 'call')).toMatchObject({ ...BUSY, cause: error })
    expect(postgresRules.translate(error, 'host-transaction')).toMatchObject({ details: { retry: 'host-transaction' } })
  })

  test('of a foreign key is a broken reference', () => {
    expect(postgresRules.translate(fromPostgres('23503'), 'call')).toBeInstanceOf(BrokenReference)
  })

  test.each(['08006', '28P01', '3D000', '42P01', '53300', '57P01', '25006', '25P03'])(
    'with the state %s says what is unavailable',
    (state) => {
      const error = fromPostgres(state)

      expect(postgresRules.translate(error, 'call')).toMatchObject({ ...UNAVAILABLE, cause: error })
    },
  )

  test.each(['22001', '23505', '42601'])('with the state %s is a fault, and stays as it is', (state) => {
    const error = fromPostgres(state)

    expect(postgresRules.translate(error, 'call')).toBe(error)
  })

  test.each([{ code: 'ECONNRESET' }, { code: 'EPIPE' }, {}])('with %j and no answer is a lost server', (properties) => {
    expect(postgresRules.translate(errorWith(properties), 'call')).toMatchObject(UNAVAILABLE)
  })

  test('outside a transaction is misuse', () => {
    expect(postgresRules.translate(fromPostgres('25P01'), 'host-transaction')).toBeInstanceOf(TypeError)
  })
})

describe('an error of MariaDB', () => {
  test.each([1020, 1205, 1213, 1317, 1969])('with the number %i asks for another try', (errno) => {
    const error = fromMariadb(errno)

    expect(mariadbRules.translate(error, 'call')).toMatchObject({ ...BUSY, cause: error })
    expect(mariadbRules.translate(error, 'host-transaction')).toMatchObject({ details: { retry: 'host-transaction' } })
  })

  test.each([1216, 1217, 1451, 1452])('with the number %i is a broken reference', (errno) => {
    expect(mariadbRules.translate(fromMariadb(errno), 'call')).toBeInstanceOf(BrokenReference)
  })

  test.each([1040, 1045, 1049, 1053, 1146, 1153, 1290, 1461, 1665, 1927])(
    'with the number %i says what is unavailable',
    (errno) => {
      const error = fromMariadb(errno)

      expect(mariadbRules.translate(error, 'call')).toMatchObject({ ...UNAVAILABLE, cause: error })
    },
  )

  test.each([
    { code: 'ECONNREFUSED', errno: -111 },
    { code: 'ETIMEDOUT' },
    { code: 'EAI_AGAIN' },
    { code: 'PROTOCOL_CONNECTION_LOST' },
    { code: 'HANDSHAKE_SSL_ERROR' },
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', fatal: true },
  ])('with %j is a lost server', (properties) => {
    expect(mariadbRules.translate(errorWith(properties), 'call')).toMatchObject(UNAVAILABLE)
  })

  test.each(['Pool is closed.', "Can't add new command when connection is in closed state"])(
    'that says "%s" is a lost server',
    (message) => {
      expect(mariadbRules.translate(errorWith({}, message), 'call')).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    },
  )

  test.each(['No connections available.', 'Queue limit reached.'])('that says "%s" is a busy pool', (message) => {
    expect(mariadbRules.translate(errorWith({}, message), 'call')).toMatchObject(BUSY)
  })

  test('of a write in a transaction that can only read is misuse', () => {
    expect(mariadbRules.translate(fromMariadb(1792), 'host-transaction')).toBeInstanceOf(TypeError)
  })

  test.each([1062, 1064, 1406])('with the number %i is a fault, and stays as it is', (errno) => {
    const error = fromMariadb(errno)

    expect(mariadbRules.translate(error, 'call')).toBe(error)
  })
})

describe('an error that a library has wrapped', () => {
  test.each([
    ['as its cause', (error: object) => errorWith({ name: 'DrizzleQueryError', cause: error })],
    ['twice', (error: object) => errorWith({ cause: errorWith({ cause: error }) })],
    ['as Prisma does', (error: object) => errorWith({ code: 'P2010', meta: { driverAdapterError: { cause: error } } })],
    ['as its original', (error: object) => errorWith({ originalError: error })],
  ])('%s is what it is beneath', (_, wrapped) => {
    expect(postgresRules.translate(wrapped(fromPostgres('40P01')), 'call')).toMatchObject(BUSY)
    expect(postgresRules.translate(wrapped({ originalCode: '40001' }), 'call')).toMatchObject(BUSY)
    expect(mariadbRules.translate(wrapped(fromMariadb(1213)), 'call')).toMatchObject(BUSY)
    expect(mariadbRules.translate(wrapped({ code: 1213 }), 'call')).toMatchObject(BUSY)
    expect(mariadbRules.translate(wrapped(errorWith({ code: 'ECONNRESET' })), 'call')).toMatchObject(UNAVAILABLE)
  })

  test('in a circle ends', () => {
    const error = errorWith({})
    Object.assign(error, { cause: error })

    expect(mariadbRules.translate(error, 'call')).toBe(error)
  })
})

test('an error is reported without its text, which contains the statement', () => {
  const errors = [fromPostgres('40001'), fromPostgres('42P01'), fromPostgres('25P01'), errorWith({ code: 'EPIPE' })]
  const others = [fromMariadb(1213), fromMariadb(1146), fromMariadb(1792), errorWith({ code: 'ECONNRESET' })]

  for (const error of errors) expect(String(postgresRules.translate(error, 'call'))).not.toMatch(/secret|forgelet_/)
  for (const error of others) expect(String(mariadbRules.translate(error, 'call'))).not.toMatch(/secret|forgelet_/)
})

test.each([postgresRules, mariadbRules])('our own error is unchanged', ({ translate }) => {
  const error = new ForgeError(
    'PIN_LIMIT_REACHED',
    'full',
    { kind: 'issue', limit: 3 },
    { cause: fromPostgres('40001') },
  )

  expect(translate(error, 'call')).toBe(error)
  expect(translate(undefined, 'call')).toBeUndefined()
})

describe('a MariaDB server', () => {
  const SOUND = {
    client: 'utf8mb4',
    results: 'utf8mb4',
    literals: 'utf8mb4',
    modes: 'STRICT_ALL_TABLES',
    autocommit: 'yes',
  }
  const asked = async (settings: object) => {
    const send = async () => [[{ ...SOUND, ...settings }]]
    await mariadbRulesForTexts.refuseUnfit(send, ids)
  }

  test.each(['10.7.0-MariaDB', '10.11.19-MariaDB-0+deb12u1', '5.5.5-10.7.12-MariaDB', '12.0.1-mariadb'])(
    'of version %s is used',
    async (version) => {
      await expect(asked({ version })).resolves.toBeUndefined()
    },
  )

  test.each([
    ['8.0.36', /not MariaDB/],
    ['5.7.44-cloud', /not MariaDB/],
    ['', /not MariaDB/],
    ['10.5.23-MariaDB', /needed is 10\.6/],
    ['5.5.5-10.4.32-MariaDB', /needed is 10\.6/],
    ['10.6.18-MariaDB', /no uuid columns: keep the ids as text/],
  ])('of version %s is refused', async (version, reason) => {
    await expect(asked({ version })).rejects.toThrow(reason)
  })

  test.each([
    [{ client: 'latin1' }, /uses latin1/],
    [{ results: 'utf8mb3' }, /uses utf8mb3/],
    [{ modes: 'ANSI_QUOTES,EMPTY_STRING_IS_NULL' }, /remove EMPTY_STRING_IS_NULL/],
    [{ modes: 'NO_BACKSLASH_ESCAPES' }, /remove NO_BACKSLASH_ESCAPES/],
    [{ autocommit: 'no' }, /leave autocommit on/],
  ])('whose connections have %j is refused, with the fix', async (settings, reason) => {
    await expect(asked({ version: '11.4.2-MariaDB', ...settings })).rejects.toThrow(reason)
  })
})
