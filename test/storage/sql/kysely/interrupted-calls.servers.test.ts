import { Kysely, PostgresDialect } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/testing.ts'
import { onPostgres } from '../../driver-hosts.ts'

// The clients of this pool have no listener for errors: one that is thrown where nothing catches it fails the run.
onPostgres((open) => {
  test('a change that is aborted while it waits for a lock does not end the process', async () => {
    const database = await open()
    const pool = database.pool({ max: 2 })
    pool.on('error', () => undefined)
    const kysely = new Kysely({ dialect: new PostgresDialect({ pool }) })
    const storage = kyselyStorage(kysely, { dialect: 'postgres' })
    onTestFinished(() => storage.close())
    await pin(storage, BOARD, '1')
    const holder = await database.begun()
    await holder.query(`select 1 from forgelet_heads for update`)
    const controller = new AbortController()
    const waiting = pin(storage, BOARD, '2', { signal: controller.signal })
    const locks = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    while ((await database.run(locks)).length === 0);
    const reason = new Error('the client has gone')
    controller.abort(reason)

    await expect(waiting).rejects.toBe(reason)
    await holder.query('rollback')
    await pin(storage, BOARD, '3')
    expect(await issuesOn(storage, BOARD)).toEqual(['1', '3'])
  })
})
