// Real processes of dist/cli.js over one database.
import { expect, test } from 'vitest'
import { MARIADB, newDatabase, onDatabases, POSTGRES, SQLITE } from '../databases.ts'
import { startForgeletProcess } from '../start-forgelet.ts'
import type { Place } from './switches.ts'
import { Switches } from './switches.ts'

const KILLS = process.env['LONG'] === '1' ? 50 : 4
const PROCESSES = 4
const LANES = 8

onDatabases([SQLITE, POSTGRES, MARIADB], (_open, kind) => {
  test(`what a process acknowledged is there after its SIGKILL under load, ${KILLS} times, and the others never fail`, {
    timeout: 600_000,
  }, async () => {
    const database = await newDatabase(kind)
    const load = new Switches(LANES)
    const start = () => startForgeletProcess(['--db', database.url, '--max-pins', '1000'], { fixture: load.fixture })
    const processes = await Promise.all(Array.from({ length: PROCESSES }, start))
    const places: Place[] = processes.map(({ url }) => ({ url, is: 'up' }))
    /** Kills every second process in turn: to start one takes most of the time. */
    const kills = async (first: number): Promise<void> => {
      for (let kill = first; kill < KILLS; kill += 2) {
        const at = kill % PROCESSES
        await load.more(LANES + Math.random() * LANES)
        places[at] = { url: places[at]?.url ?? '', is: 'changing' }
        await processes[at]?.stop('SIGKILL')
        places[at] = { url: '', is: 'down' }
        const started = await start()
        processes[at] = started
        places[at] = { url: started.url, is: 'up' }
      }
    }

    load.start(places, ({ status }) => status === 0)
    await Promise.all([kills(0), kills(1)]).finally(() => load.stop())
    await Promise.all(processes.map((process) => process.stop('SIGKILL')))
    expect(load.wrong).toEqual([])
    expect(load.refused).toBeGreaterThanOrEqual(KILLS)
    expect(load.acknowledged).toBeGreaterThan((KILLS * LANES) / 2)
    await load.expectAllIn(database.storage())
    if (kind.name === SQLITE.name)
      expect(await database.run('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })
})
