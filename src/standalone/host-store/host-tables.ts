import { ForgeError } from '../../index.ts'
import { unavailable } from '../open-database.ts'
import type { SqlSession } from './sql-session.ts'

/**
 * The host's own tables, one list of statements per version. The table `host_schema` stores the current version. The
 * SQL is plain enough for every database that the forge supports: the host assigns the ids, flags are 0 or 1, and times
 * are in milliseconds.
 */
const HOST_MIGRATIONS: readonly (readonly string[])[] = [
  [
    `create table host_accounts (
       id bigint not null primary key,
       kind varchar(12) not null,
       name varchar(100) not null,
       folded_name varchar(100) not null unique,
       full_name text not null,
       email text not null,
       hides_email smallint not null,
       is_site_admin smallint not null,
       visibility varchar(7) not null,
       location text not null,
       website text not null,
       description text not null,
       created_at bigint not null
     )`,
    `create table host_tokens (
       digest char(64) not null primary key,
       user_id bigint not null references host_accounts (id)
     )`,
    `create table host_members (
       organization_id bigint not null references host_accounts (id),
       user_id bigint not null references host_accounts (id),
       role varchar(6) not null,
       primary key (organization_id, user_id)
     )`,
    `create table host_repositories (
       id bigint not null primary key,
       owner_id bigint not null references host_accounts (id),
       name varchar(100) not null,
       folded_name varchar(100) not null,
       description text not null,
       is_private smallint not null,
       is_archived smallint not null,
       default_branch text not null,
       created_at bigint not null,
       unique (owner_id, folded_name)
     )`,
    `create table host_collaborators (
       repository_id bigint not null references host_repositories (id),
       user_id bigint not null references host_accounts (id),
       role varchar(6) not null,
       primary key (repository_id, user_id)
     )`,
    `create table host_labels (
       id bigint not null primary key,
       repository_id bigint not null references host_repositories (id),
       name text not null,
       color char(6) not null,
       description text not null
     )`,
    `create table host_issues (
       id bigint not null primary key,
       repository_id bigint not null references host_repositories (id),
       issue_index bigint not null,
       kind varchar(11) not null,
       title text not null,
       body text not null,
       poster_id bigint not null references host_accounts (id),
       state varchar(6) not null,
       is_locked smallint not null,
       branch text not null,
       comment_count bigint not null,
       created_at bigint not null,
       updated_at bigint not null,
       closed_at bigint,
       unique (repository_id, issue_index)
     )`,
    `create table host_issue_labels (
       issue_id bigint not null references host_issues (id),
       place smallint not null,
       label_id bigint not null references host_labels (id),
       primary key (issue_id, place)
     )`,
    `create table host_issue_assignees (
       issue_id bigint not null references host_issues (id),
       place smallint not null,
       user_id bigint not null references host_accounts (id),
       primary key (issue_id, place)
     )`,
  ],
]

/** The names of the host's own tables in every version, except `host_schema`. */
const HOST_TABLES: ReadonlySet<string> = new Set(
  HOST_MIGRATIONS.flat().flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []),
)

/**
 * Returns the version of the host's own tables, or 0 if they are missing. Only reads.
 * @throws ForgeError `SCHEMA_TOO_NEW` if a newer release created them
 */
export function hostVersion(session: SqlSession): number {
  const known = session.has(`select name from sqlite_master where type = 'table' and name = 'host_schema'`)
  const found = known ? (session.first<{ version: number }>('select version from host_schema')?.version ?? 0) : 0
  if (found <= HOST_MIGRATIONS.length) return found

  const needed = HOST_MIGRATIONS.length
  const message = `the host's tables have version ${found}, newer than ${needed}, which this release supports`
  throw new ForgeError('SCHEMA_TOO_NEW', message, { found, oldestLibrary: found })
}

/** Brings the host's own tables to the version of this release. Runs inside the caller's transaction. */
export function migrateHost(session: SqlSession): void {
  const found = hostVersion(session)
  if (found === HOST_MIGRATIONS.length) return

  if (found === 0) session.exec('create table if not exists host_schema (version bigint not null)')
  for (const statement of HOST_MIGRATIONS.slice(found).flat()) session.exec(statement)
  session.run('delete from host_schema')
  session.run('insert into host_schema (version) values (?)', HOST_MIGRATIONS.length)
}

/** The prefix of the forge's tables, and the name of the table that describes them. */
const FORGE_PREFIX = 'forgelet_'
const FORGE_LEDGER = 'forgelet_ledger'
const HOST_LEDGER = 'host_schema'

interface NamedRow {
  readonly name: string
  readonly is_ledger: number
}

/**
 * Refuses a database that this server did not create: one in which another program uses the same table names, or one
 * that holds the forge of an application, whose ids refer to other users. The server creates its own tables before
 * those of the forge, so a forge without them belongs to an application. Only reads, and in one statement, because
 * another process may be creating the tables.
 * Source: docs/behaviour.md, The standalone server
 *
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
