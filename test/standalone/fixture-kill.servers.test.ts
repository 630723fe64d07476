import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES } from '../databases.ts'
import { newFolder, startCommand } from '../start-forgelet.ts'

const USERS = Array.from({ length: 100 }, (_, at) => ({ username: `user-${at}` }))
const FIXTURE = {
  users: [...USERS, { username: 'zoe' }],
  repositories: [{ owner: 'zoe', name: 'rocket', issues: [{ index: 1, title: 'One', poster: 'zoe' }], pins: [1] }],
  badges: [{ slug: 'owl', holders: ['zoe'] }],
}

/** A badge that the fixture has too: whoever inserts it next waits for the transaction. Badges follow all rows of the host. */
const OWL = "insert into forgelet_badges (id, slug, description, image_url) values (1, 'owl', '', '')"

/** How many statements on a database wait. */
const WAITING: Readonly<Record<string, string>> = {
  [POSTGRES.name]:
    "select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  [MARIADB.name]:
    'select count(*) as n from information_schema.processlist where db = database() and id <> connection_id() ' +
    "and command <> 'Sleep' and time_ms > 500",
}

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test('a server that is killed while it loads a fixture leaves nothing, and of two that start then one loads it', async () => {
    const database = await newDatabase(kind)
    const { url: db } = database
    await (await openStandalone({ db, logger: false })).close()
    const count = async (sql: string) => Number((await database.run(sql))[0]?.['n'])

    const folder = await newFolder()
    await writeFile(join(folder, 'fixture.json'), JSON.stringify(FIXTURE))
    const start = () =>
      startCommand(['serve', '--db', db, '--port', '0', '--json', '--fixture', 'fixture.json'], { folder })

    const other = await database.begun()
    await other.run(OWL)
    const killed = start()
    while ((await count(WAITING[kind.name] ?? '')) === 0) await after(20)
    await killed.stop('SIGKILL')
    await other.rollback()

    const started = await Promise.all([start(), start()].map((one) => one.line()))
    expect(started.map((line) => JSON.parse(line).fixture).sort()).toEqual(['ignored', 'loaded'])
    expect(await count('select count(*) as n from host_accounts')).toBe(101)
    expect(await count('select count(*) as n from forgelet_board_pins')).toBe(1)
  })
})
