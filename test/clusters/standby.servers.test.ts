import { createPool } from 'mysql2/promise'
import { expect, onTestFinished, test } from 'vitest'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { OwnServerKind } from '../durability/own-server.ts'
import { OWN_MARIADB, OWN_POSTGRES, onOwnServer } from '../durability/own-server.ts'
import { startForgelet } from '../start-forgelet.ts'

/** With the setting `standby` it starts as one: it accepts reads only. */
const STANDBY: OwnServerKind = {
  ...OWN_POSTGRES,
  serve(folder, port, settings) {
    const command = OWN_POSTGRES.serve(folder, port, [])
    return settings.includes('standby')
      ? ['sh', '-c', `touch ${folder}/data/standby.signal; exec "$@"`, 'sh', ...command]
      : OWN_POSTGRES.serve(folder, port, settings)
  },
}

onOwnServer(STANDBY, (start) => {
  test.each([
    ['the server is a standby', 'standby', 'the server accepts no changes: it is a standby'],
    [
      'changes wait for a standby that is not there',
      'synchronous_standby_names=other',
      expect.stringContaining('waits for a standby'),
    ],
  ])('schemaStatus says that %s', async (_what, setting, warning) => {
    const server = await start()
    onTestFinished(() => server.drop())
    await warned(postgresStorage(server.url), [])
    await server.kill()
    await server.start([setting])

    await warned(postgresStorage(server.url), [warning])
  })
})

onOwnServer(OWN_MARIADB, (start) => {
  test('schemaStatus says that the server is read-only, and the ready server is not ready', async () => {
    const server = await start()
    onTestFinished(() => server.drop())
    const pool = createPool(server.url)
    onTestFinished(() => pool.end())
    const served = await startForgelet(['--db', server.url])
    const storage = mariadbStorage(pool)
    const readiness = async () => (await fetch(new URL('/readyz', served.url))).status
    expect(await readiness()).toBe(200)
    await pool.query('set global read_only = 1')

    expect(await readiness()).toBe(503)
    expect((await storage.schemaStatus()).warnings).toContain('the server accepts no changes: read_only = ON')
  })
})

/** Migrates tables that are not there, and expects these warnings. */
async function warned(storage: ReturnType<typeof postgresStorage>, warnings: readonly unknown[]): Promise<void> {
  onTestFinished(() => storage.close())
  if ((await storage.schemaStatus()).state === 'empty') await storage.migrate()
  expect((await storage.schemaStatus()).warnings).toEqual(warnings)
}
