import type { Pool } from 'mysql2/promise'
import { expect, test } from 'vitest'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onMariadb } from './host-database.ts'

onMariadb((open) => {
  test('a read of the outbox sees the oldest cursor and the events in one snapshot', async () => {
    const database = await open()
    const pool = database.pool()
    const prunes: (() => Promise<unknown>)[] = []
    beforeStatements(pool, / from \S*events\b.* order by \S*position\S* limit /, async () => prunes.shift()?.())
    const storage = database.storage(pool)
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const { cursor } = await storage.events.read({ after: undefined, limit: 1 })
    prunes.push(async () => {
      await database.run('delete from forgelet_events where position = 2')
      await database.run('update forgelet_outbox set floor = 2')
    })
    const { events } = await storage.events.read({ after: cursor, limit: 10 })

    expect(prunes).toEqual([])
    expect(events.map(({ issueId }) => issueId)).toEqual(['2', '3'])
  })
})

/** Does something before each statement like this, on the connections that a pool makes from now on. */
function beforeStatements(pool: Pool, pattern: RegExp, act: () => Promise<unknown>): void {
  pool.on('connection', (connection: object) => {
    for (const name of ['query', 'execute']) {
      const send = Reflect.get(connection, name)
      Reflect.set(connection, name, (...args: unknown[]) => {
        if (!pattern.test(textOf(args[0]))) return Reflect.apply(send, connection, args)
        return act().then(() => Reflect.apply(send, connection, args))
      })
    }
  })
}

function textOf(query: unknown): string {
  return typeof query === 'object' && query !== null && 'sql' in query ? String(query.sql) : String(query)
}
