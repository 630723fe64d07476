import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { SqlIssueTracker } from '../../../src/standalone/host-store/sql-issue-tracker.ts'
import { openSqliteDatabase } from '../../../src/standalone/host-store/sqlite-database.ts'
import { loadedStore } from '../host-store/loaded-store.ts'
import { trackerSuite } from './tracker-suite.ts'
import { trackerWorld } from './tracker-world.ts'

const ends: (() => Promise<void>)[] = []

afterAll(async () => {
  for (const end of ends) await end()
})

trackerSuite('in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-tracker-'))
  const database = await openSqliteDatabase(join(folder, 'forge.db'), undefined)
  ends.push(async () => {
    await database.storage.close()
    database.close()
    rmSync(folder, { recursive: true })
  })
  return trackerWorld(database)
})

test('a tracker in an SQLite database answers in the same tick', async () => {
  const database = await openSqliteDatabase(':memory:', undefined)
  onTestFinished(() => database.close())
  await loadedStore(database)
  const tracker = new SqlIssueTracker(database)
  const context = { actor: 'system' as const }
  const empty = { repositoryId: '1', labels: [], milestones: [], create: [], update: [], comments: [] }
  const answers = [
    tracker.issues({ repositoryId: '1', after: 0, limit: 10 }, context),
    tracker.issues({ repositoryId: '1', numbers: [1] }, context),
    tracker.comments({ repositoryId: '1', numbers: [1] }, context),
    tracker.labelsAndMilestones({ repositoryId: '1' }, context),
    tracker.findUsers([], context),
    tracker.write(empty, context),
  ]
  expect(answers.filter((answer) => answer instanceof Promise)).toEqual([])
})
