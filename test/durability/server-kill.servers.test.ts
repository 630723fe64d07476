// Database servers that are killed and frozen under load. The processes run dist/cli.js.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { startForgeletProcess } from '../start-forgelet.ts'
import { forgeOn } from '../storage/forge-on.ts'
import { FIVE_SECONDS_AND_ROOM } from '../storage/promised-times.ts'
import type { OwnServer } from './own-server.ts'
import { OWN_MARIADB, OWN_POSTGRES, onOwnServer } from './own-server.ts'
import type { Place } from './switches.ts'
import { Switches } from './switches.ts'

const KILLS = process.env['LONG'] === '1' ? 8 : 1
const LANES = 16
const MAX_ANSWER_MS = 5000
const NOTHING_DONE = {
  status: 'rejected',
  reason: expect.objectContaining({ code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }),
}

onOwnServer(OWN_POSTGRES, (start) => onKilledServer(start, postgresStorage, 'fsync=off'))
onOwnServer(OWN_MARIADB, (start) => onKilledServer(start, mariadbStorage, 'innodb-flush-log-at-trx-commit=0'))

/** @param unsafe - a setting with which a server may lose what it has committed */
function onKilledServer<Tx>(
  start: () => Promise<OwnServer>,
  open: (url: string) => ForgeStorage<Tx>,
  unsafe: string,
): void {
  let server: OwnServer

  beforeAll(async () => {
    server = await start()
    return () => server.drop()
  })

  async function onStorage<T>(use: (storage: ForgeStorage<Tx>) => Promise<T>): Promise<T> {
    const storage = open(server.url)
    return use(storage).finally(() => storage.close())
  }

  test(`what was acknowledged is there after SIGKILL, and every request is answered meanwhile, ${KILLS} times`, {
    timeout: 600_000,
  }, async () => {
    const load = new Switches(LANES)
    const options = ['--db', server.url, '--max-pins', '1000']
    const first = await startForgeletProcess(options, { fixture: load.fixture })
    const processes = [first, await startForgeletProcess(options)]
    const places: Place[] = processes.map(({ url }) => ({ url, is: 'up' }))
    const all = (is: Place['is']): void => {
      for (const [at, { url }] of processes.entries()) places[at] = { url, is }
    }

    for (let kill = 0; kill < KILLS; kill += 1) {
      const { refused } = load
      load.start(places, ({ status, text }) => status === 503 && text.includes('STORAGE_UNAVAILABLE'))
      await load.more(50 + Math.random() * 100)
      all('changing')
      await server.kill()
      all('down')
      await pause(300)
      all('changing')
      await server.start()
      all('up')
      await load.more(50)
      await load.stop()

      expect(load.wrong).toEqual([])
      expect(load.longest).toBeLessThan(MAX_ANSWER_MS)
      expect(load.refused).toBeGreaterThan(refused)
      await onStorage((storage) => load.expectAllIn(storage))
    }
    const ends = await Promise.all(processes.map((process) => process.stop()))
    expect(ends.map(({ code }) => code)).toEqual([0, 0])
  })

  test('a storage that is opened while the server is away works as soon as it is there', async () => {
    await server.kill()
    await onStorage(async (storage) => {
      expect(await Promise.allSettled(readAndWrite(storage))).toEqual([NOTHING_DONE, NOTHING_DONE])
      await server.start()
      await Promise.all(readAndWrite(storage))
    })
  })

  test('calls on a frozen server are answered in five seconds, storages close, and the next calls work', async () => {
    await onStorage(async (storage) => {
      const closing = open(server.url)
      for (const one of [storage, closing]) await Promise.all(readAndWrite(one))
      server.freeze()
      const from = performance.now()
      const closed = closing.close()
      expect(await Promise.allSettled(readAndWrite(storage))).toEqual([NOTHING_DONE, NOTHING_DONE])
      await closed
      expect(performance.now() - from).toBeLessThan(FIVE_SECONDS_AND_ROOM)

      server.thaw()
      await Promise.all(readAndWrite(storage))
    })
  })

  test('a server that may lose what it has committed is warned of, and no other', async () => {
    const warnings = () => onStorage(async (storage) => (await storage.schemaStatus()).warnings)
    const [name = ''] = unsafe.split('=')

    expect(await warnings()).toEqual([])
    await server.kill()
    await server.start([unsafe])
    expect(await warnings()).toEqual([expect.stringContaining(name.replaceAll('-', '_'))])
  })
}

/** A read, and a change that changes nothing. */
function readAndWrite<Tx>(storage: ForgeStorage<Tx>): readonly Promise<unknown>[] {
  const { pins } = forgeOn(storage)
  const board = { repositoryId: '999', kind: 'issue' } as const
  return [pins.list('system', board), pins.unpin('system', { id: '1', ...board })]
}
