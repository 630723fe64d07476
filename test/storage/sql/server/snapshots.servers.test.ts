import { expect, test } from 'vitest'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onEachServer } from './server-hosts.ts'

onEachServer((open) => {
  test('a read of the outbox sees the oldest cursor and the events in one snapshot', async () => {
    const database = await open()
    const pool = database.pool()
    const prunes: (() => Promise<void>)[] = []
    pool.watch(async (text) => {
      if (/ from \S*events\b.* order by \S*position\S* limit /.test(text)) await prunes.shift()?.()
    })
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
