import { ForgeError } from '../../index.ts'
import type { SqlSession } from './sql-session.ts'
import { HOST_MIGRATIONS } from './sql-tables.ts'

/**
 * The version of the host's own tables; 0 when there are none. Reads only.
 * @throws ForgeError `SCHEMA_TOO_NEW` when a newer release made them
 */
export function hostVersion(session: SqlSession): number {
  const known = session.has(`select name from sqlite_master where type = 'table' and name = 'host_schema'`)
  const found = known ? (session.first<{ version: number }>('select version from host_schema')?.version ?? 0) : 0
  if (found <= HOST_MIGRATIONS.length) return found

  const needed = HOST_MIGRATIONS.length
  const message = `the host's tables have version ${found}, newer than ${needed}, which is what this release knows`
  throw new ForgeError('SCHEMA_TOO_NEW', message, { found, oldestLibrary: found })
}

/** Brings the host's own tables to this release's version. Runs inside a transaction of the caller's. */
export function migrateHost(session: SqlSession): void {
  const found = hostVersion(session)
  if (found === HOST_MIGRATIONS.length) return

  if (found === 0) session.exec('create table if not exists host_schema (version bigint not null)')
  for (const statement of HOST_MIGRATIONS.slice(found).flat()) session.exec(statement)
  session.run('delete from host_schema')
  session.run('insert into host_schema (version) values (?)', HOST_MIGRATIONS.length)
}
