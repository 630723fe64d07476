import { expect, test } from 'vitest'
import { outbox } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onServer } from '../../databases/servers.ts'
import { newDatabase, POSTGRES } from '../server/server-databases.ts'

onServer(POSTGRES.server, (url) => {
  test('events are numbered in the order of their ids, whatever order the database finds them in', async () => {
    const database = await newDatabase(POSTGRES, url)
    const storage = await database.migrated()
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    await database.run('drop index forgelet_events_unnumbered, forgelet_events_position') // they would give them in order
    await database.run('update forgelet_events set version = version where issue_id = 1') // writes the row at the end

    expect((await outbox(storage)).map(({ issueId }) => issueId)).toEqual(['1', '2', '3'])
  })
})
