import { expect, test } from 'vitest'
import { LATER, note } from '../../../../src/testing/storage-contract/cases/prune-samples.ts'
import { onServer } from '../../databases/servers.ts'
import { newDatabase, SERVER_KINDS } from '../server/server-databases.ts'

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (url) => {
    test('a prune waits for who numbers events meanwhile, and then removes all that were written', async () => {
      const database = await newDatabase(kind, url)
      const storage = await database.migrated()
      await note(storage, 3)
      const other = await database.connect()
      await other.run('begin')
      await other.run('select * from forgelet_outbox for update')
      const pruned = storage.events.prune(LATER)
      await new Promise((resolve) => setTimeout(resolve, 300)) // a call that does not wait has ended by then

      await other.run('rollback')
      expect(await pruned).toBe(3)
    })
  })
}
