import { describe, expect, test } from 'vitest'
import { ForgeError } from '../../../../src/index.ts'
import { createSqlContext } from '../../../../src/storage/sql/context.ts'
import { mariadbDialect } from '../../../../src/storage/sql/dialects/mariadb.ts'
import { BrokenReference } from '../../../../src/storage/sql/errors.ts'
import { translate } from '../../../../src/storage/sql/servers/errors.ts'
import { mariadbRules } from '../../../../src/storage/sql/servers/mariadb-rules.ts'
import { postgresRules } from '../../../../src/storage/sql/servers/postgres-rules.ts'

const { ids } = createSqlContext(mariadbDialect, { ids: { user: 'uuid' } })
const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const UNAVAILABLE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }

function errorWith(properties: object, message = 'select secret from forgelet_pins'): Error {
  return Object.assign(new Error(message), properties)
}

/** An error of PostgreSQL, or one of MariaDB for a number. */
function answered(code: string | number): Error {
  return typeof code === 'number' ? errorWith({ errno: code, code: 'ER_X' }) : errorWith({ code, severity: 'ERROR' })
}

function expectUnavailable(error: Error, message: RegExp): void {
  const translated = translate(error, 'call')

  expect(translated).toMatchObject({ ...UNAVAILABLE, cause: error })
  expect(String(translated)).toMatch(message)
  expect(String(translated)).not.toMatch(/secret|forgelet_/)
}

describe('an error of a server', () => {
  test.each(['40001', '40P01', '55P03', '57014', '25P02', 1020, 1205, 1213, 1317, 1412, 1969])(
    'with the code %s asks for another try',
    (code) => {
      const error = answered(code)

      expect(translate(error, 'call')).toMatchObject({ ...BUSY, cause: error })
      expect(translate(error, 'host-transaction')).toMatchObject({ details: { retry: 'host-transaction' } })
    },
  )

  test.each([
    [BrokenReference, ['23503', 1216, 1217, 1451, 1452], 'call'],
    [TypeError, ['25P01', 1305], 'host-transaction'], // there is no transaction
  ] as const)('is a %o', (type, codes, retry) => {
    for (const code of codes) expect(translate(answered(code), retry)).toBeInstanceOf(type)
  })

  test.each([
    ['28P01', /correct the user or the password/],
    [1045, /correct the user or the password/],
    ['3D000', /no database of that name/],
    ['3F000', /schema does not exist/],
    [1049, /no database of that name/],
    ['42501', /grant it/],
    [1142, /grant it/],
    ['42P01', /see schemaStatus/],
    [1146, /see schemaStatus/],
    ['53300', /too many connections/],
    [1040, /too many connections/],
    ['53100', /no space/],
    [1114, /no space/],
    ['25006', /read-only/],
    [1290, /read-only/],
    ['08006', /\(08006\)/],
    ['57P01', /\(57P01\)/],
    ['25P03', /\(25P03\)/],
    [1053, /\(1053\)/],
    [1153, /raise max_allowed_packet/],
    [1665, /\(1665\)/],
  ] as const)(
    'with the code %s says what is unavailable, without its text, which has the statement',
    (code, message) => {
      expectUnavailable(answered(code), message)
    },
  )

  test.each([
    ['no more connections allowed (max_client_conn)', /too many connections/],
    ['unsupported startup parameter: statement_timeout', /proxy refuses a parameter/],
    ['invalid message', /cannot do this now/],
  ])('of a proxy, which has one code for all, is understood: %s', (message, meaning) => {
    expectUnavailable(errorWith({ code: '08P01' }, message), meaning)
  })

  test.each(['22001', '23505', '42601', 1062, 1064, 1406])(
    'with the code %s is a fault, and stays as it is',
    (code) => {
      const error = answered(code)

      expect(translate(error, 'call')).toBe(error)
    },
  )
})

describe('an error without an answer', () => {
  test.each<readonly [string, RegExp]>([
    ['ECONNREFUSED', /cannot be reached.*the port$/],
    ['EPIPE', /cannot be reached.*max_allowed_packet/],
    ['ECONNRESET', /cannot be reached.*max_allowed_packet/],
    ['EAI_AGAIN', /cannot be reached/],
    ['PROTOCOL_CONNECTION_LOST', /cannot be reached/],
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      /certificate of the server is not accepted: .*CA.* \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    ],
    ['SELF_SIGNED_CERT_IN_CHAIN', /certificate of the server/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /certificate of the server/],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /certificate of the server/],
    ['CERT_HAS_EXPIRED', /certificate of the server/],
    ['HOSTNAME_MISMATCH', /certificate of the server/],
    ['INVALID_CA', /certificate of the server/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /certificate of the server is not accepted: .*host name/],
    ['HANDSHAKE_SSL_ERROR', /TLS fails: .* \(HANDSHAKE_SSL_ERROR\)/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /TLS fails/],
    ['ERR_OSSL_PEM_NO_START_LINE', /TLS fails/],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', /TLS fails/],
    ['EPROTO', /TLS fails/],
    ['HANDSHAKE_NO_SSL_SUPPORT', /server does not offer TLS: .* \(HANDSHAKE_NO_SSL_SUPPORT\)/],
    ['ER_SERVER_SSL_DISABLED', /server does not offer TLS/],
  ])('with the code %s says what failed, also beneath an error of a library', (code, message) => {
    expectUnavailable(errorWith({ code }), message)
    expect(String(translate(errorWith({ code: 'P1011', cause: errorWith({ code }) }), 'call'))).toMatch(message)
  })

  test.each<readonly [string, object, RegExp]>([
    ['', { code: 'STORAGE_UNAVAILABLE' }, /cannot be reached/],
    ['The server does not support SSL connections', { code: 'STORAGE_UNAVAILABLE' }, /does not offer TLS: .*sslmode/],
    ['Query read timeout', { code: 'STORAGE_UNAVAILABLE' }, /query_timeout/],
    ['Cannot use a pool after calling end on the pool', { details: { closed: true } }, /./],
    ['Pool is closed.', { details: { closed: true } }, /./],
    ['pool is closed', { details: { closed: true } }, /./],
    ['driver has already been destroyed', { details: { closed: true } }, /./],
    ['timeout exceeded when trying to connect', BUSY, /./],
    ['No connections available.', BUSY, /./],
    ['Queue limit reached.', BUSY, /./],
    ['Transaction is already committed', { name: 'TypeError' }, /has ended/],
    ['Transaction query already complete, run with DEBUG=knex:tx for more info', { name: 'TypeError' }, /has ended/],
    [
      'Transaction API error: Transaction already closed: A query cannot be executed on a committed transaction.',
      { name: 'TypeError' },
      /has ended/,
    ],
  ])('that says "%s" has no code, and is understood', (text, properties, message) => {
    const translated = translate(errorWith({}, text), 'call')

    expect(translated).toMatchObject(properties)
    expect(String(translated)).toMatch(message)
  })

  test.each([
    new TypeError('not a function'),
    new EvalError('Code generation from strings disallowed for this context'),
  ])('that is a $name says nothing of the server, and stays as it is', (error) => {
    expect(translate(error, 'call')).toBe(error)
  })
})

describe('an error that a library has wrapped', () => {
  test.each([
    ['as its cause', (error: object) => errorWith({ name: 'DrizzleQueryError', cause: error })],
    ['twice', (error: object) => errorWith({ cause: errorWith({ cause: error }) })],
    ['as Prisma does', (error: object) => errorWith({ code: 'P2010', meta: { driverAdapterError: { cause: error } } })],
    ['as its original', (error: object) => errorWith({ originalError: error })],
  ])('%s is what it is beneath', (_, wrapped) => {
    expect(translate(wrapped(answered('40P01')), 'call')).toMatchObject(BUSY)
    expect(translate(wrapped({ originalCode: '40001' }), 'call')).toMatchObject(BUSY)
    expect(translate(wrapped(answered(1213)), 'call')).toMatchObject(BUSY)
    expect(translate(wrapped({ code: 1213 }), 'call')).toMatchObject(BUSY)
    expect(translate(wrapped(errorWith({ code: 'ECONNRESET' })), 'call')).toMatchObject({
      message: expect.stringContaining('ECONNRESET'),
    })
  })

  test('in a circle ends', () => {
    const error = errorWith({})
    Object.assign(error, { cause: error })

    expect(translate(error, 'call')).toMatchObject(UNAVAILABLE)
  })
})

test('our own error is unchanged', () => {
  const error = new ForgeError('PIN_LIMIT_REACHED', 'full', { kind: 'issue', limit: 3 }, { cause: answered('40001') })

  expect(translate(error, 'call')).toBe(error)
  expect(translate(undefined, 'call')).toBeUndefined()
})

/** What a server sends to a sound connection. */
const SENT = { sentNumber: 123_456_789_012_345, sentText: ' x ', sentNull: null }

test('a PostgreSQL server of version 12 is refused', async () => {
  const session = { first: async () => ({ ...SENT, version: '120022' }) }
  const asked = async () => Reflect.apply(postgresRules.refuseUnfit, postgresRules, [session, ids])
  await expect(asked()).rejects.toThrow('the server is PostgreSQL 12: needed is 13 or newer')
})

describe('a MariaDB server', () => {
  const SOUND = { ...SENT, charsets: 'utf8mb4 utf8mb4 utf8mb4', modes: 'STRICT_ALL_TABLES' }
  const asked = async (settings: object) => {
    const first = async () => ({ ...SOUND, ...settings })
    await Reflect.apply(mariadbRules.refuseUnfit, mariadbRules, [{ first }, ids])
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
    [{ charsets: 'latin1 utf8mb4 utf8mb4' }, /uses latin1/],
    [{ charsets: 'utf8mb4 utf8mb3 utf8mb4' }, /uses utf8mb3/],
    [{ modes: 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES' }, /remove NO_BACKSLASH_ESCAPES/],
    [{ modes: 'EMPTY_STRING_IS_NULL' }, /remove EMPTY_STRING_IS_NULL/],
    [{ sentNumber: '123456789012345' }, /typeCast/],
    [{ sentText: 'x' }, /typeCast/],
    [{ sentNull: undefined }, /typeCast/],
  ])('whose connections have %j is refused, with the fix', async (settings, reason) => {
    await expect(asked({ version: '11.4.2-MariaDB', ...settings })).rejects.toThrow(reason)
  })
})
