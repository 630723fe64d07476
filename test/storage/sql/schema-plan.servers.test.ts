import { expect, test } from 'vitest'
import { BOARD, pin } from '../../../src/testing/testing.ts'
import { newDatabase, onServer, SERVER_KINDS } from '../../databases.ts'

const OTHER = { prefix: 'x_', ids: { organization: 'uuid', issue: 'text' } } as const

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (_url) => {
    test.each([undefined, OTHER])('the plan run by hand makes tables fit to use: %o', async (options) => {
      const database = await newDatabase(kind)
      for (const sql of kind.plan(options)) await database.run(sql)
      const storage = database.storage(options)

      expect(await storage.schemaStatus()).toMatchObject({ state: 'current' })
      expect(await pin(storage, BOARD, '1')).toBe(1)
    })
  })
}
