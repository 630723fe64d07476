import { expect, test } from 'vitest'
import { sqliteStorage } from '../../../../src/storage/sqlite.ts'
import { AUTHOR, NO_SUBJECT, outbox } from '../../../../src/testing/testing.ts'
import { newFile } from '../database-files.ts'

const KEY = { repositoryId: '10' }

test.each(['rollback', 'commit'])(
  'nothing is written behind a prepare that ends its transaction by %s',
  async (ending) => {
    const storage = sqliteStorage(newFile())
    await storage.migrate()
    const change = storage.issueImports.update(KEY, {
      by: AUTHOR,
      prepare: (_state, transaction) => void transaction.exec(ending),
      decide: (state, _at, prepared) => ({
        state,
        events: [{ ...NO_SUBJECT, type: 'issues.imported', data: { created: 1, updated: 0, comments: 0 }, ...KEY }],
        result: prepared,
      }),
    })

    await expect(change).rejects.toThrow(/leave its transaction open/)
    expect(await outbox(storage)).toEqual([])
    await storage.close()
  },
)
