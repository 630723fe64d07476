import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../../../src/storage/mariadb.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../../../src/storage/storage.ts'
import { freePort } from '../../../http.ts'

/** How a storage is made over the URL of a server, by its scheme. */
const STORAGES: Readonly<Record<string, (url: string) => Pick<ForgeStorage, 'schemaStatus'>>> = {
  postgres: (url) => closed(postgresStorage(url)),
  mysql: (url) => closed(mariadbStorage(url)),
  'postgres through Kysely': (url) => {
    const pool = new pg.Pool({ connectionString: url })
    return postgresStorage(destroyed(new Kysely({ dialect: new PostgresDialect({ pool }) })))
  },
  'mysql through Kysely': (url) => {
    const pool = createPool(url)
    return mariadbStorage(destroyed(new Kysely({ dialect: new MysqlDialect({ pool }) })))
  },
}

describe.each(Object.entries(STORAGES))('over %s', (name, make) => {
  const scheme = name.split(' ')[0]
  const failure = (where: string) =>
    Promise.resolve(make(`${scheme}://someone:secret@${where}`).schemaStatus()).catch((error: unknown) => error)

  test('a port without a server is a refused connection', async () => {
    expectReason(await failure(`127.0.0.1:${await freePort()}/test`), /cannot be reached \(ECONNREFUSED\)/)
  })

  test('a host name that does not exist is an unknown host', async () => {
    expectReason(await failure('forgelet-test.invalid/test'), /cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/)
  })

  test('a server that closes the connection at once says so', async () => {
    const port = await listening((socket) => void socket.destroy())

    expectReason(await failure(`127.0.0.1:${port}/test`), /cannot be reached/)
  })
})

/** The port of a server that does this with each connection. */
async function listening(work: (socket: Socket) => void): Promise<number> {
  const server = createServer(work)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A reason that an operator can act on, and nothing that is secret. */
function expectReason(error: unknown, reason: RegExp): void {
  expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: expect.stringMatching(reason) })
  expect(String(error)).not.toMatch(/secret|someone|127\.0\.0\.1|invalid/)
}

function closed<S extends { close(): Promise<void> }>(storage: S): S {
  onTestFinished(() => storage.close())
  return storage
}

function destroyed<K extends { destroy(): Promise<void> }>(kysely: K): K {
  onTestFinished(() => kysely.destroy())
  return kysely
}
