import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { freePort } from '../http.ts'
import { describeWith } from '../programs.ts'

describeWith(['pgbouncer'], 'PgBouncer that lends a connection for one transaction', () => {
  onServer(SERVERS.postgres, () => {
    test('every start works, also of several processes at once, and each change is there', async () => {
      const { url } = await newDatabase(POSTGRES)
      const { url: behind } = await pgbouncer(url)
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

    test('calls at once succeed, also the first ones of several processes', async () => {
      const { url } = await newDatabase(POSTGRES)
      const { url: behind } = await pgbouncer(url)
      const storages = Array.from({ length: 3 }, () => postgresStorage(behind))
      onTestFinished(async () => void (await Promise.all(storages.map((storage) => storage.close()))))
      await storages[0]?.migrate()
      const calls = storages.flatMap((storage, process) =>
        Array.from({ length: 40 }, (_, n) => {
          const board = { ...BOARD, repositoryId: `${10 * (n % 7) + process}` }
          return n % 2 === 0 ? issuesOn(storage, board) : pin(storage, board, `${10 * n + process}`)
        }),
      )
      await expect(Promise.all(calls)).resolves.toHaveLength(120)
    })

    test('nothing that was acknowledged is lost when it is killed and started again', async () => {
      const { url } = await newDatabase(POSTGRES)
      const proxy = await pgbouncer(url)
      const storage = postgresStorage(proxy.url)
      onTestFinished(() => storage.close())
      await storage.migrate()

      const acknowledged: string[] = []
      const restarting = (async () => {
        for (let round = 0; round < 3; round += 1) {
          await pause(400)
          await proxy.kill()
          await pause(200)
          await proxy.start()
        }
      })()
      let isOver = false
      restarting.finally(() => {
        isOver = true
      })
      for (let n = 1; !isOver || n < 20; n += 1) {
        const repositoryId = String(n)
        const error = await pin(storage, { ...BOARD, repositoryId }, repositoryId).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        if (error === undefined) acknowledged.push(repositoryId)
        else expect(error).toMatchObject({ code: expect.stringMatching(/^STORAGE_(?:UNAVAILABLE|BUSY)$/) })
        if (error !== undefined) await pause(20)
      }
      await restarting
      await pin(storage, { ...BOARD, repositoryId: '100000' }, '1')
      for (const id of acknowledged) expect(await issuesOn(storage, { ...BOARD, repositoryId: id })).toEqual([id])
    })
  })
})

/** PgBouncer before a server, and the URL of the same database behind it. */
interface Proxy {
  readonly url: string
  kill(): Promise<void>
  start(): Promise<void>
}

async function pgbouncer(url: string): Promise<Proxy> {
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
  const behind = Object.assign(new URL(url), { port: String(port) }).href
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const start = async (): Promise<void> => {
    child = spawn(program, parameters, { stdio: 'ignore' })
    await answers(behind)
  }
  onTestFinished(async () => {
    await kill()
    rmSync(folder, { recursive: true })
  })
  await start()
  return { url: behind, kill, start }
}

async function answers(behind: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const probe = postgresStorage(behind)
    const isThere = await probe.schemaStatus().then(
      () => true,
      () => false,
    )
    await probe.close()
    if (isThere) return
    await pause(50)
  }
  throw new Error('PgBouncer did not start')
}
