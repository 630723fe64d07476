import { expect, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import { onMariadb } from './host-database.ts'

onMariadb((open) => {
  test('a change is refused if a deadlock ends a statement that its beforeCommit does not wait for', async () => {
    const database = await open()
    await database.run('create table host_rows (id bigint primary key, hits bigint) engine = InnoDB')
    await database.run('insert into host_rows values (1, 0), (2, 0)')
    const storage = database.storage(database.pool())
    await pin(storage, BOARD, '1')
    const other = await database.connect()
    await other.beginTransaction()
    for (let id = 100; id < 200; id += 1) await other.query(`insert into host_rows values (${id}, 0)`) // it ends later
    await other.query('update host_rows set hits = 1 where id = 2')
    let waiting: Promise<unknown> | undefined
    const beforeCommit = async (_: unknown, transaction: { query(sql: string): Promise<unknown> }): Promise<void> => {
      await transaction.query('update host_rows set hits = 1 where id = 1')
      waiting = other.query('update host_rows set hits = 1 where id = 1')
      // Sent behind the next statement of the change.
      void transaction
        .query('select 1')
        .then(() => transaction.query('update host_rows set hits = 1 where id = 2').catch(() => undefined))
    }

    await expect(pin(storage, BOARD, '2', { beforeCommit })).rejects.toThrow('beforeCommit and prepare must wait')
    await waiting
    await other.rollback()
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('a table that is locked is waited for no longer than five seconds', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const other = await database.connect()
    await other.query('lock tables forgelet_board_pins write')
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
  })
})
