import { expect, test } from 'vitest'
import { runSync } from '../../../../src/schema/sync-or-async.ts'
import { createSqlContext } from '../../../../src/storage/sql/context.ts'
import { sqliteDialect } from '../../../../src/storage/sql/dialects/sqlite.ts'
import { firstTables } from '../../../../src/storage/sql/schema/001-tables.ts'
import { migrateAtOnce } from '../../../../src/storage/sql/schema/migrate-at-once.ts'
import { Schema } from '../../../../src/storage/sql/schema/schema.ts'
import { Connection } from '../../../../src/storage/sql/sqlite/connection.ts'
import { newFile, openHandle, openStorage } from '../database-files.ts'

test('events that are older than the outbox are read, consumed and pruned like others', async () => {
  const file = newFile()
  const handle = openHandle(file)
  const schema = new Schema(createSqlContext(sqliteDialect), [firstTables])
  runSync(migrateAtOnce(schema, new Connection(handle, 'call', 'us')))
  const insert = handle.prepare(
    "insert into forgelet_events (type, version, at, data) values ('badge.defined', 1, ?, '{}')",
  )
  for (const at of [1, 2, 3]) insert.run(at)

  const { events } = await openStorage(file)
  const claim = await events.claim({ name: 'search', holder: 'one' }, 60_000)
  const first = await events.read({ after: claim?.cursor, limit: 2 })
  await events.advance({ name: 'search', holder: 'one' }, first.cursor)

  expect(first.events.map((event) => event.id)).toEqual(['1', '2'])
  expect(await events.prune(new Date(10))).toBe(2)
  expect((await events.read({ after: undefined, limit: 10 })).events.map((event) => event.id)).toEqual(['3'])
})
