import { unavailable } from '../sqlite-failures.ts'
import type { SqlSession } from './sql-session.ts'
import { HOST_TABLES } from './sql-tables.ts'

/** What the forge's tables are called by, and the one that says what they are. */
const FORGE_PREFIX = 'forgelet_'
const FORGE_LEDGER = 'forgelet_ledger'
const HOST_LEDGER = 'host_schema'

interface NamedRow {
  readonly name: string
  readonly is_ledger: number
}

/**
 * Refuses a database that this server did not make: one where other programs use our table names, and one that holds the
 * forge of an application, whose ids name other users. The server creates its own tables before those of the forge, so a
 * forge without them is never its own. Reads only, in one statement: another process may be creating the tables.
 *
 * Source: docs/behaviour.md, The standalone server
 * @throws ForgeError `STORAGE_UNAVAILABLE`
 */
export function refuseForeign(session: SqlSession): void {
  const rows = session.all<NamedRow>(
    `select lower(name) as name,
       type = 'table' and exists (select 1 from pragma_table_info(m.name) where name = 'version') as is_ledger
     from sqlite_master m where lower(name) glob 'host_*' or lower(name) glob 'forgelet_*'`,
  )
  const forge = rows.filter(({ name }) => name.startsWith(FORGE_PREFIX))
  const host = rows.filter(({ name }) => name === HOST_LEDGER || HOST_TABLES.has(name))
  if (!isOurs(forge, FORGE_LEDGER) || !isOurs(host, HOST_LEDGER)) {
    throw unavailable('it holds tables of another program: name another file')
  }
  if (forge.length > 0 && host.length === 0) {
    throw unavailable("it holds the forge of an application and none of this server's tables: name another file")
  }
}

function isOurs(rows: readonly NamedRow[], ledger: string): boolean {
  return rows.length === 0 || rows.some(({ name, is_ledger }) => name === ledger && is_ledger === 1)
}
