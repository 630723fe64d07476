import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { Actor, Forge } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import type { SqliteHandle } from '../../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import { newFile } from '../../storage/sql/database-files.ts'
import { RowTracker, TRACKER_TABLES } from '../trackers/row-tracker.ts'

/** A host with a tracker on a handle of SQLite. */
export interface SqliteHost {
  readonly handle: Database.Database
  readonly forge: Forge<Actor, SqliteHandle>
  /** Every row of every table. */
  contents(): unknown
}

/** Opens a host, closed when the test ends. */
export async function openHost(): Promise<SqliteHost> {
  const handle = new Database(newFile())
  onTestFinished(() => void handle.close())
  for (const sql of TRACKER_TABLES) handle.exec(sql.replaceAll('TEXT_TYPE', 'text'))
  const storage = sqliteStorage(handle)
  await storage.migrate()
  onTestFinished(() => storage.close())
  // A tracker of a synchronous database is given the handle of the transaction, and uses its own outside of one.
  const tracker = new RowTracker<Actor, SqliteHandle>((sql, values, transaction = handle) => {
    const statement = (transaction as Database.Database).prepare(sql)
    if (statement.reader) return statement.all(...values) as Record<string, unknown>[]
    statement.run(...values)
    return []
  })
  const forge = createForge({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
    issues: tracker,
    logger: false,
  })
  const contents = () =>
    handle
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name")
      .pluck()
      .all()
      .map((name) => [name, handle.prepare(`select * from "${name}"`).all()])
  return { handle, forge, contents }
}
