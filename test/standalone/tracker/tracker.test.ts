import { expect, onTestFinished, test } from 'vitest'
import { SqlIssueTracker } from '../../../src/standalone/host-store/sql-issue-tracker.ts'
import { openSqliteDatabase } from '../../../src/standalone/host-store/sqlite-database.ts'
import { SQLITE } from '../../databases.ts'
import { onHostDatabases } from '../host-databases.ts'
import { loadedStore } from '../host-store/loaded-store.ts'
import { trackerSuite } from './tracker-suite.ts'
import { trackerWorld } from './tracker-world.ts'

onHostDatabases([SQLITE], (open) => trackerSuite(() => open(trackerWorld)))

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
