import { expect, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onMariadb } from './host-database.ts'

onMariadb((open) => {
  test('a connection that emits more than one error does not end the process', async () => {
    const database = await open()
    const pool = database.pool()
    const connections: { emit(event: string, error: Error): boolean }[] = []
    pool.on('connection', (connection) => void connections.push(connection))
    await issuesOn(database.storage(pool), BOARD)

    expect(connections).toHaveLength(1)
    for (const connection of connections) {
      for (const message of ['one', 'another']) expect(connection.emit('error', new Error(message))).toBe(true)
    }
  })
})
