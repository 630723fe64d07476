import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { mariadbConnection, pgConnection, runOnce } from '../databases.ts'
import type { OwnServer } from '../durability/own-server.ts'
import { OWN_MARIADB, OWN_POSTGRES, onOwnServer } from '../durability/own-server.ts'

const SIZE = 4

/** What waits at COMMIT for a standby that is not there, and how it is asked. */
interface WaitingServer {
  readonly storage: ForgeStorage<unknown>
  /** Makes each COMMIT wait, or no longer. */
  wait(isOn: boolean): Promise<unknown>
  /** Returns how many connections of others the server has. */
  count(): Promise<number>
}

onOwnServer(OWN_POSTGRES, (start) => {
  test('COMMITs that hang take no more connections than the pool has, and reads go on', async () => {
    const server = await start()
    const ask = (text: string) => runOnce(pgConnection, server.url, text)
    await hangs(server, async (url) => ({
      storage: postgresStorage(`${url}?max=${SIZE}`) as ForgeStorage<unknown>,
      async wait(isOn) {
        await ask(`alter system set synchronous_standby_names = '${isOn ? 'other' : ''}'`)
        if (!isOn) return ask('select pg_reload_conf()')
        await server.kill() // a server that reloads its settings does so a moment later
        return server.start()
      },
      count: async () =>
        (await ask('select 1 from pg_stat_activity where datname is not null and pid <> pg_backend_pid()')).length,
    }))
  })
})

onOwnServer(OWN_MARIADB, (start) => {
  test('COMMITs that hang take no more connections than the pool has, and reads go on', async () => {
    const server = await start()
    await server.kill()
    await server.start(['log_bin=binlog', 'server_id=1', 'rpl_semi_sync_master_timeout=600000'])
    await hangs(server, async (url) => {
      const { run } = await mariadbConnection(url)
      return {
        storage: mariadbStorage(`${url}?connectionLimit=${SIZE}`) as ForgeStorage<unknown>,
        wait: (isOn) => run(`set global rpl_semi_sync_master_enabled = ${isOn ? 1 : 0}`),
        count: async () =>
          (await run('select id from information_schema.processlist where db is not null and id <> connection_id()'))
            .length,
      }
    })
  })
})

async function hangs(server: OwnServer, open: (url: string) => Promise<WaitingServer>): Promise<void> {
  onTestFinished(() => server.drop())
  const { storage, wait, count } = await open(server.url)
  onTestFinished(() => storage.close())
  await storage.migrate()
  await block(storage, '1', '1')
  await wait(true)
  let organization = 1
  const change = async () => {
    organization += 1
    const start = performance.now()
    const error: unknown = await block(storage, String(organization), String(organization)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return { error, ms: performance.now() - start }
  }

  const hanging = await Promise.all(Array.from({ length: SIZE }, change))
  for (const { error } of hanging) {
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } })
  }
  for (let round = 0; round < 3; round += 1) {
    const refused = await Promise.all(Array.from({ length: 2 * SIZE }, change))
    for (const { error, ms } of refused) {
      expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } })
      expect(String(error)).toMatch(/does not answer COMMIT/)
      expect(ms).toBeLessThan(2500)
    }
    expect(await storage.blocks.find({ organizationId: '1', userId: '1' })).toMatchObject({ userId: '1' })
  }
  expect(await count()).toBeLessThanOrEqual(2 * SIZE)

  await wait(false)
  const isWell = async (): Promise<boolean> => (await change()).error === undefined
  const end = performance.now() + 10_000
  while (!(await isWell())) {
    expect(performance.now()).toBeLessThan(end)
    await pause(200)
  }
}
