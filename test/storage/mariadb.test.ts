import mysqlWithCallbacks from 'mysql2'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mariadbSchemaPlan, mariadbStorage } from '../../src/storage/mariadb.ts'

describe('a MariaDB storage', () => {
  test.each([undefined, null, 7, {}, { getConnection: 1 }])('refuses %s for a pool', (pool) => {
    expect(() => Reflect.apply(mariadbStorage, undefined, [pool])).toThrow(/a URL, a pool of mysql2\/promise/)
  })

  test('refuses a pool with callbacks', () => {
    const pool = mysqlWithCallbacks.createPool('mysql://root@127.0.0.1/forge')
    onTestFinished(() => pool.end())

    expect(() => Reflect.apply(mariadbStorage, undefined, [pool])).toThrow(/a pool of mysql2\/promise/)
  })

  test.each(['', 'forge', 'postgres://root@127.0.0.1/forge', 'mysql://', 'mysql:forge', 'mysql://root:secret@[/forge'])(
    'refuses "%s" for a URL, and does not show it',
    (url) => {
      expect(() => mariadbStorage(url)).toThrow(TypeError)
      expect(() => mariadbStorage(url)).not.toThrow(/secret/)
    },
  )

  test.each(['mysql://root:secret@127.0.0.1', 'mariadb://127.0.0.1:3306/'])('asks "%s" for a database', (url) => {
    expect(() => mariadbStorage(url)).toThrow(/must name a database/)
  })

  test('opens nothing before its first use', async () => {
    const storage = mariadbStorage('mariadb://user@192.0.2.1/forge')

    await expect(storage.close()).resolves.toBeUndefined()
  })

  test('says of a URL that cannot be decoded so much, and no secret in it', async () => {
    const storage = mariadbStorage('mysql://root:100%secret@192.0.2.1/forge')

    await expect(storage.schemaStatus()).rejects.toThrow(
      new TypeError('mysql2 cannot read the URL of the database: write % as %25'),
    )
  })

  test.each([
    ['ssl-mode=REQUIRED', 'ssl-mode', 'for TLS, write ssl={"rejectUnauthorized":true}'],
    ['connectionLimit=2&useSSL=true', 'useSSL', 'for TLS, write ssl={"rejectUnauthorized":true}'],
    ['unix_socket=/run/mysqld/mysqld.sock', 'unix_socket', 'write socketPath'],
    ['password=secret', 'password', 'remove it, or correct its name'], // mysql2 reads it from before the host only
    ['constructor=1', 'constructor', 'remove it, or correct its name'],
  ])('refuses the parameter of a URL that mysql2 would ignore: %s', (parameters, name, fix) => {
    expect(() => mariadbStorage(`mysql://root:secret@192.0.2.1/forge?${parameters}`)).toThrow(
      new TypeError(`mysql2 reads no parameter "${name}" from the URL of the database: ${fix}`),
    )
  })

  test('does not show what may be the rest of a password', () => {
    expect(() => mariadbStorage('mysql://root:1/x?secret@192.0.2.1/forge')).toThrow(
      new TypeError('mysql2 reads no such parameter from the URL of the database: remove it, or correct its name'),
    )
  })

  test.each([
    'ssl={"rejectUnauthorized":true}',
    'socketPath=/run/mysqld/mysqld.sock',
    'connectionLimit=3&charset=utf8mb4',
  ])('takes the parameter of a URL that mysql2 knows: %s', async (parameters) => {
    await mariadbStorage(`mysql://root@192.0.2.1/forge?${parameters}`).close()
  })

  test.each([
    ['ssl=true', "SSL profile must be an object, instead it's a boolean; for TLS, write ssl={"],
    ['ssl=Nowhere', "Unknown SSL profile 'Nowhere'; for TLS, write ssl={"],
    ['charset=nope', "Unknown charset 'nope'"],
  ])('says of a parameter what mysql2 says: %s', async (parameters, reason) => {
    const storage = mariadbStorage(`mysql://root:secret@192.0.2.1/forge?${parameters}`)

    await expect(storage.schemaStatus()).rejects.toThrow(`mysql2 refuses the URL of the database: ${reason}`)
  })

  test('does not show what mysql2 says of the rest of a password', async () => {
    const storage = mariadbStorage('mysql://root:1/x?ssl=secret@192.0.2.1/forge')

    await expect(storage.schemaStatus()).rejects.toThrow(
      new TypeError('mysql2 cannot read the URL of the database: write @ as %40'),
    )
  })

  test.each(['0', '1001', 'ten', ''])('refuses a pool of "%s" connections', (limit) => {
    expect(() => mariadbStorage(`mysql://127.0.0.1/forge?connectionLimit=${limit}`)).toThrow(
      /^connectionLimit in the URL .* an integer from 1 to 1000$/,
    )
  })

  test('plans its tables without a server, in statements that can be run again', () => {
    const plan = mariadbSchemaPlan({ prefix: 'forge_' })
    const making = plan.filter((statement) => /^create (table|index|unique index)/.test(statement))

    expect(making.length).toBeGreaterThan(10)
    for (const statement of making) expect(statement).toMatch(/if not exists/)
  })
})
