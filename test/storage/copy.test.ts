import { expect, test } from 'vitest'
import { copyForge } from '../../src/storage/copy.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { PGLITE, SQLITE } from '../databases.ts'
import { copySuite } from './copy-suite.ts'

copySuite([SQLITE], [SQLITE, PGLITE])
copySuite([PGLITE], [SQLITE])

test('a storage that is in no database is refused, and so is an option that does not exist', async () => {
  const memory = memoryStorage()
  const file = sqliteStorage(':memory:')

  await expect(copyForge(memory, file)).rejects.toThrow('copyForge needs from: a storage in SQLite')
  await expect(copyForge(file, memory)).rejects.toThrow('copyForge needs to: a storage in SQLite')
  await expect(copyForge(file, file, Object({ clear: true }))).rejects.toThrow('clear')
})
