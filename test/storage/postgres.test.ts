import pg from 'pg'
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { postgresStorage } from '../../src/storage/postgres.ts'

const URL = 'postgres://localhost/forge'

describe('a PostgreSQL storage', () => {
  test.each(['', 'Forge_', '1a', 'a-b', 'a"', 'a'.repeat(32)])('refuses the prefix "%s"', (prefix) => {
    expect(() => postgresStorage(URL, { prefix })).toThrow(TypeError)
  })

  test.each(['', '1a', 'a-b', 'a"', 'a.b', 'a'.repeat(64), null])('refuses the schema "%s"', (schema) => {
    expect(() => Reflect.apply(postgresStorage, undefined, [URL, { schema }])).toThrow(TypeError)
  })

  test.each(['', 'localhost', 'mysql://localhost/forge', 'file:forge.sqlite'])('refuses the URL "%s"', (url) => {
    expect(() => postgresStorage(url)).toThrow(TypeError)
  })

  test.each([undefined, null, 7, {}, { query: 1, connect: 2 }, { query: () => undefined }])(
    'refuses %s for a pool',
    (pool) => {
      expect(() => Reflect.apply(postgresStorage, undefined, [pool])).toThrow(TypeError)
    },
  )

  test('refuses a client of pg for a pool', () => {
    expect(() => Reflect.apply(postgresStorage, undefined, [new pg.Client(URL)])).toThrow(
      'a URL, a pool of pg, a postgres()',
    )
  })

  test('refuses a pool of postgres.js that never hands out a new connection', () => {
    expect(() => postgresStorage(postgres(URL, { fetch_types: false }))).toThrow(/^postgres\.js .*fetch_types/)
    expect(() => postgresStorage(postgres(URL, { prepare: false }))).not.toThrow()
  })

  test('refuses the clients of pg-native, and gives them back', async () => {
    const released: unknown[] = []
    const native = {
      native: {},
      query: () => Promise.reject(new Error('cannot insert multiple commands into a prepared statement')),
      release: (destroy?: boolean) => void released.push(destroy),
    }
    const storage = postgresStorage({ query: native.query, connect: async () => native })

    await expect(storage.migrate()).rejects.toThrow(/pg-native/)
    await expect(storage.schemaStatus()).rejects.toBeInstanceOf(TypeError)
    await expect(async () => storage.checkTransaction(native)).rejects.toThrow(TypeError)
    expect(released).toEqual([undefined, undefined])
  })

  test('says of a URL that cannot be read so much, and no secret in it', async () => {
    const storage = postgresStorage('postgres://user:secret@host:port/forge')
    const thrown = await storage.migrate().catch((error: unknown) => error)

    expect(thrown).toBeInstanceOf(TypeError)
    expect(JSON.stringify([String(thrown), thrown, thrown instanceof Error && thrown.cause])).not.toContain('secret')
  })

  test.each(['sslrootcert', 'sslcert', 'sslkey'])('says that the file of %s does not exist', async (name) => {
    const storage = postgresStorage(`postgres://u:secret@192.0.2.1/forge?sslmode=verify-full&${name}=/none.pem`)

    await expect(storage.migrate()).rejects.toThrow(
      new TypeError(`the file of ${name} in the URL of the database cannot be read (ENOENT)`),
    )
  })

  test('says of a URL what pg says, if that is no part of it', async () => {
    const storage = postgresStorage('postgres://u:secret@192.0.2.1/forge?uselibpqcompat=true&sslmode=verify-ca')

    await expect(storage.migrate()).rejects.toThrow(/^pg refuses the URL of the database: .*sslrootcert/)
  })

  test.each(['u:secret@a:5432,b:5432/forge', 'a,b/forge', 'a/forge?host=a,b', 'a/forge?host=a%2Cb'])(
    'refuses a URL with several hosts: %s',
    (rest) => {
      expect(() => postgresStorage(`postgres://${rest}`)).toThrow(/has one host: put a proxy before several/)
    },
  )

  test.each(['postgresql://localhost', 'socket:/run/postgresql', 'postgres://u:a,b@host/forge', 'postgres://host/a,b'])(
    'takes the URL %s',
    async (url) => {
      await postgresStorage(url).close()
    },
  )

  test.each(['0', '1001', 'ten', ''])('refuses a pool of "%s" connections', (max) => {
    expect(() => postgresStorage(`${URL}?max=${max}`)).toThrow(/^max in the URL .* an integer from 1 to 1000$/)
  })

  test('that was never used is closed at once, and refuses what comes then', async () => {
    const storage = postgresStorage(URL)
    await storage.close()
    await storage.close()

    await expect(storage.migrate()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    await expect(storage.schemaStatus()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  })
})
