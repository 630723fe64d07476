import { expect, onTestFinished, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { listenerWarnings } from '../listener-warnings.ts'
import { onPostgres } from './host-database.ts'

onPostgres((open) => {
  test.each(['URL', 'pool of the host'])('a thousand reads over a %s leave no listeners behind', async (over) => {
    const database = await open()
    const storage = database.storage(over === 'URL' ? database.url : database.pool({ max: 1 }))
    const warnings = listenerWarnings(onTestFinished)
    for (let count = 0; count < 1000; count += 1) await issuesOn(storage, BOARD)

    expect(await warnings()).toEqual([])
  })
})
