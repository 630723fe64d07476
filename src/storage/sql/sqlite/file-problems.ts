import { isForgeError } from '../../../schema/errors.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runSync } from '../../../schema/sync-or-async.ts'
import { createSqlContext } from '../context.ts'
import { command, textQuery } from '../dialect.ts'
import { sqliteDialect } from '../dialects/sqlite.ts'
import { Schema } from '../schema/schema.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import { DAMAGED } from './connection.ts'
import { SqliteDatabase } from './database.ts'

/** How the pages of a file are checked: `integrity_check` compares each index with its table too. */
export type FileCheck = 'quick_check' | 'integrity_check'

/** Returns what is wrong with the file of a database. Changes nothing. */
export function fileProblems(file: string, check: FileCheck): readonly string[] {
  const database = new SqliteDatabase(file, new Schema(createSqlContext(sqliteDialect)), undefined)
  try {
    return database.withReader((reader) => runSync(problems(reader, check)))
  } catch (error) {
    if (isForgeError(error, 'STORAGE_UNAVAILABLE') && error.message === DAMAGED) return [DAMAGED]
    throw error
  } finally {
    database.close()
  }
}

function* problems(session: Session, check: FileCheck): SyncOrAsync<readonly string[]> {
  const found = yield* query(
    session,
    textQuery<{ readonly text: string }>(`select ${check} as "text" from pragma_${check} where "text" <> 'ok'`),
  )
  const missing = yield* query(session, MISSING)
  return [
    ...found.map(({ text }) => `${DAMAGED}: ${text}`),
    ...missing.map(
      ({ child, parent, rows }) => `rows of ${child} refer to rows of ${parent} that are missing: ${rows}`,
    ),
    ...(yield* writingProblems(session)),
  ]
}

const MISSING = textQuery<{ readonly child: string; readonly parent: string; readonly rows: number }>(
  'select "table" as "child", "parent", count(*) as "rows" from pragma_foreign_key_check group by 1, 2',
)

/** Writes something, and rolls it back: SQLite gives the write lock of a file that it cannot write. */
function* writingProblems(session: Session): SyncOrAsync<readonly string[]> {
  yield* query(session, command('pragma query_only = off'))
  try {
    yield* query(session, command('begin immediate'))
    try {
      yield* query(session, command('create table forgelet_probe (id integer)'))
    } finally {
      yield* query(session, command('rollback'))
    }
    return []
  } catch (error) {
    if (isForgeError(error, 'STORAGE_BUSY')) return [] // another process is writing
    if (isForgeError(error, 'STORAGE_UNAVAILABLE')) return [error.message]
    throw error
  } finally {
    yield* query(session, command('pragma query_only = on'))
  }
}
