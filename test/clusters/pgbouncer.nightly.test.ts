import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { freePort } from '../http.ts'
import { describeWith } from '../programs.ts'

describeWith(['pgbouncer'], 'PgBouncer that lends a connection for one transaction', () => {
  onServer(SERVERS.postgres, () => {
    test('every start works, also of several processes at once, and each change is there', async () => {
      const { url } = await newDatabase(POSTGRES)
      const behind = await pgbouncer(url)
      for (let start = 1; start <= 3; start += 1) {
        const storages = Array.from({ length: 3 }, () => postgresStorage(behind))
        onTestFinished(async () => void (await Promise.all(storages.map((storage) => storage.close()))))
        await Promise.all(storages.map((storage) => storage.migrate()))
        const states = await Promise.all(storages.map(async (storage) => (await storage.schemaStatus()).state))
        expect([start, ...states]).toEqual([start, 'current', 'current', 'current'])
        for (const [n, storage] of storages.entries()) {
          await pin(storage, { ...BOARD, repositoryId: String(10 * start + n) }, String(100 * start + n))
        }
      }
    })
  })
})

/** Starts PgBouncer before a server, and returns the URL of the same database behind it. */
async function pgbouncer(url: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-pgbouncer-'))
  chmodSync(folder, 0o755)
  const [port, server] = [await freePort(), new URL(url)]
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users'), `"${server.username}" "${server.password}"\n`)
  writeFileSync(
    config,
    `[databases]
* = host=${server.hostname} port=${server.port || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = 4
`,
  )
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'] : []
  const [program = '', ...parameters] = [...user, 'pgbouncer', config]
  const child = spawn(program, parameters, { stdio: 'ignore' })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true })
  })
  const behind = Object.assign(new URL(url), { port: String(port) }).href
  for (let tries = 0; tries < 100; tries += 1) {
    const probe = postgresStorage(behind)
    const isThere = await probe.schemaStatus().then(
      () => true,
      () => false,
    )
    await probe.close()
    if (isThere) return behind
    await pause(50)
  }
  throw new Error('PgBouncer did not start')
}
