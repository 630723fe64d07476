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

  test.each(['0', '1001', 'ten', ''])('refuses a pool of "%s" connections', (limit) => {
    expect(() => mariadbStorage(`mysql://127.0.0.1/forge?connectionLimit=${limit}`)).toThrow(
      /^connectionLimit in the URL .* an integer from 1 to 1000$/,
    )
  })

  test('waits for what is done on the transaction of its host', () => {
    expect(mariadbStorage('mysql://127.0.0.1/forge').transactions).toBe('asynchronous')
  })

  test('plans its tables without a server, in statements that can be run again', () => {
    const plan = mariadbSchemaPlan({ prefix: 'forge_' })
    const making = plan.filter((statement) => /^create (table|index|unique index)/.test(statement))

    expect(making.length).toBeGreaterThan(10)
    for (const statement of making) expect(statement).toMatch(/if not exists/)
  })
})
