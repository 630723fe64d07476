import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import type { Queryable } from '../../storage/sql/session.ts'
import type { Finding, WantedSetting } from './checks.ts'
import { settingFindings } from './checks.ts'

/** Checks an SQLite file. The other settings belong to a connection, and every server sets them on its own. */
export function sqliteChecks(session: Queryable): SyncOrAsync<readonly Finding[]> {
  return settingFindings(session, SETTINGS, WANTED)
}

const SETTINGS: Statement<{ readonly name: string; readonly value: string }> = {
  sql:
    "select 'version' as name, sqlite_version() as value " +
    "union all select 'journal_mode', (select journal_mode from pragma_journal_mode) " +
    "union all select 'quick_check', (select quick_check from pragma_quick_check limit 1)",
  parameters: [],
  returnsRows: true,
}

const WANTED: readonly WantedSetting[] = [
  { name: 'version', isRight: () => true, advice: '' },
  {
    name: 'journal_mode',
    isRight: (value) => value !== 'off' && value !== 'memory',
    advice: 'run "pragma journal_mode = wal": the file may be damaged when a process is killed',
  },
  { name: 'quick_check', isRight: (value) => value === 'ok', advice: 'the file is damaged: restore a copy' },
]
