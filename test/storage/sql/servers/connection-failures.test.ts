import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../../../src/storage/mariadb.ts'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../../../src/storage/storage.ts'
import { freePort } from '../../../http.ts'
import { describeWith } from '../../../programs.ts'
import { newFolder } from '../../../start-forgelet.ts'

/** How a storage is made over the URL of a server, by its scheme. */
const STORAGES: Readonly<Record<string, (url: string) => Pick<ForgeStorage, 'schemaStatus'>>> = {
  postgres: (url) => closed(postgresStorage(url)),
  mysql: (url) => closed(mariadbStorage(url)),
  kysely: (url) => {
    const pool = new pg.Pool({ connectionString: url.replace('kysely', 'postgres') })
    const kysely = new Kysely({ dialect: new PostgresDialect({ pool }) })
    onTestFinished(() => kysely.destroy())
    return postgresStorage(kysely)
  },
}

describe.each(Object.entries(STORAGES))('over %s', (scheme, make) => {
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

describeWith(['openssl'], 'PostgreSQL over TLS', () => {
  const failure = (port: number, parameters: string) =>
    Promise.resolve(
      STORAGES['postgres']?.(`postgres://someone:secret@127.0.0.1:${port}/test?${parameters}`).schemaStatus(),
    ).catch((error: unknown) => error)

  test('a server that has none was reached', async () => {
    const port = await listening((socket) => void socket.once('data', () => socket.end('N')))

    expectReason(await failure(port, 'sslmode=verify-full'), /^the server does not offer TLS: .*sslmode/)
  })

  test('a certificate of an unknown CA, or for another host, was presented', async () => {
    const folder = await newFolder()
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const names = ['-subj', '/CN=db.example.com', '-addext', 'subjectAltName=DNS:db.example.com']
    const files = ['-keyout', keyFile, '-out', certFile]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...files, ...names], {
      stdio: 'ignore',
    })
    const [key, cert] = [await readFile(keyFile), await readFile(certFile)]
    const port = await listening((socket) => {
      socket.once('data', () => {
        socket.write('S')
        new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => undefined)
      })
    })

    const unknown = /certificate of the server is not accepted: .*sslrootcert.*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/
    expectReason(await failure(port, 'sslmode=verify-full'), unknown)
    const other = /certificate of the server is not accepted: .*host name.*\(ERR_TLS_CERT_ALTNAME_INVALID\)/
    expectReason(await failure(port, `sslmode=verify-full&sslrootcert=${certFile}`), other)
    expectReason(
      await failure(port, `sslmode=verify-full&sslrootcert=${keyFile}`),
      /TLS fails|certificate of the server/,
    )
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
