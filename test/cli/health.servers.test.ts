import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { onServer } from '../storage/databases/servers.ts'
import { newDatabase, POSTGRES, SERVER_KINDS } from '../storage/sql/server/server-databases.ts'
import { silentProxy } from '../storage/sql/server/silent-proxy.ts'
import { startServe } from './command.ts'

// Real child processes of dist/cli.js.

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forgelet-health-'))
})

afterAll(() => rm(folder, { recursive: true }))

/** Starts a server that is stopped when the test ends. */
async function serve(...args: readonly string[]) {
  const running = await startServe(folder, args)
  onTestFinished(async () => void (await running.stop('SIGKILL')))
  return {
    stop: running.stop,
    async probe(path: string): Promise<readonly unknown[]> {
      const reply = await fetch(new URL(path, running.url))
      const body: unknown = await reply.json()
      return [reply.status, typeof body === 'object' && body !== null && Reflect.get(body, 'message')]
    },
  }
}

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    test.each([
      ['the forge', 'update forgelet_ledger set version = 1'],
      ['the host', 'update host_schema set version = 0'],
      ['the host, missing', 'drop table host_schema'],
    ])('a server is not ready while the tables of %s are outdated', async (_, sql) => {
      const database = await newDatabase(kind, server)
      const { probe } = await serve('--db', database.url)
      expect(await probe('/readyz')).toEqual([200, undefined])
      await database.run(sql)
      expect(await probe('/readyz')).toEqual([503, 'the tables of the database are missing or outdated'])
      expect(await probe('/healthz')).toEqual([200, undefined])
    })

    test('a server is not ready while its database is silent, says so within three seconds, and recovers', async () => {
      const { url } = await newDatabase(kind, server)
      const proxy = await silentProxy(url, kind === POSTGRES ? 5432 : 3306)
      onTestFinished(() => proxy.end())
      const { probe, stop } = await serve('--db', proxy.url)
      expect(await probe('/readyz')).toEqual([200, undefined])
      proxy.silence()
      const began = performance.now()
      const found = await Promise.all([probe('/readyz'), probe('/readyz'), probe('/healthz')])
      expect(found).toEqual([
        [503, 'the database is unavailable'],
        [503, 'the database is unavailable'],
        [200, undefined],
      ])
      expect(performance.now() - began).toBeLessThan(3000)

      proxy.revive()
      await vi.waitFor(async () => expect(await probe('/readyz')).toEqual([200, undefined]), { timeout: 15_000 })
      const { code, err } = await stop('SIGTERM')
      expect([code, err.match(/not ready: the database is unavailable/g)]).toEqual([0, [expect.anything()]])
      expect(err).toContain('the database did not answer within two seconds')
    })
  })
}
