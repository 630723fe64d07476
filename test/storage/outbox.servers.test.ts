import { expect, test } from 'vitest'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { whileWaiting } from '../../src/testing/storage-contract/cases/gate.ts'
import { LATER, note, outbox } from '../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import type { OpenDatabase } from '../databases.ts'
import { MARIADB, newDatabase, onDatabases, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { consumedBy } from './crowd.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.postgres, () => consumedBy(storageKind(POSTGRES)))
onServer(SERVERS.mariadb, () => consumedBy(storageKind(MARIADB)))

onDatabases([POSTGRES, MARIADB], <Tx>(open: OpenDatabase<Tx>) => {
  test('a read gives what another is numbering, and not an empty page', async () => {
    const { storage, numbering } = await numbered()
    const read = Promise.resolve(storage.events.read({ after: undefined, limit: 10 }))
    await whileWaiting(read)
    await numbering.commit()

    expect((await read).events.map(({ issueId }) => issueId)).toEqual(['1'])
  })

  test('a read that waits too long for a transaction that is numbering returns the events that have a number', async () => {
    const { storage, numbering } = await numbered(async (storage) => {
      await storage.events.read({ after: undefined, limit: 10 })
      await pin(storage, BOARD, '2')
    })
    const page = await storage.events.read({ after: undefined, limit: 10 })
    await numbering.rollback()
    const rest = await storage.events.read({ after: page.cursor, limit: 10 })

    expect([page, rest].map(({ events }) => events.map(({ issueId }) => issueId))).toEqual([['1'], ['2']])
  })

  test('a prune waits for who numbers events meanwhile, and then removes what is no history', async () => {
    const { storage, numbering } = await numbered(async (storage) => note(storage, 3))
    const pruned = Promise.resolve(storage.events.prune(LATER))
    await whileWaiting(pruned)
    await numbering.rollback()

    expect(await pruned).toBe(3) // the pin is history
  })

  /** A storage with a pin and more, and a transaction that numbers events. */
  async function numbered(more: (storage: ForgeStorage<Tx>) => Promise<unknown> = async () => undefined) {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    await more(storage)
    const numbering = await database.begun()
    await numbering.run('select * from forgelet_outbox for update')
    return { storage, numbering }
  }
})

onServer(SERVERS.postgres, () => {
  test('events are numbered in the order of their ids, whatever order the database finds them in', async () => {
    const database = await newDatabase(POSTGRES)
    const storage = await database.migrated()
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    await database.run('drop index forgelet_events_unnumbered, forgelet_events_position') // they would give them in order
    await database.run('update forgelet_events set version = version where issue_id = 1') // writes the row at the end

    expect((await outbox(storage)).map(({ issueId }) => issueId)).toEqual(['1', '2', '3'])
  })
})
