import { expect, test } from 'vitest'
import { BOARD, moveToFront, pin } from '../../../../src/testing/testing.ts'
import { newDatabase, onServer, SERVER_KINDS } from '../../../databases.ts'

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (_url) => {
    // MariaDB does not write a row whose values stay the same, and an older snapshot would not notice the change.
    test('a change that alters nothing else of its head raises the version', async () => {
      const database = await newDatabase(kind)
      const storage = await database.migrated()
      for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
      const head = async () => (await database.run("select * from forgelet_heads where scope = 'issueBoard'"))[0]
      const before = await head()
      await moveToFront(storage, BOARD, '2')

      expect(Number(before?.['version'])).toBe(2)
      expect(await head()).toEqual({ ...before, version: expect.toSatisfy((version) => Number(version) === 3) })
    })
  })
}
