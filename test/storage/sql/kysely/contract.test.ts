import { afterAll, describe, test } from 'vitest'
import { storageContract } from '../../../../src/testing/testing.ts'
import { kyselySqliteKind } from '../../databases/kysely-sqlite.ts'

describe('over SQLite', () => {
  const { open, host, end } = kyselySqliteKind()
  afterAll(end)

  for (const each of storageContract(open, host)) test(each.name, each.run)
})
