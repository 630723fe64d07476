/**
 * The host's own tables, one list of statements per version; the database remembers in `host_schema` how far it is.
 * Plain SQL that every database of the forge understands: ids are given by us, flags are 0 or 1, times are milliseconds.
 */
export const HOST_MIGRATIONS: readonly (readonly string[])[] = [
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

/** The names of the host's own tables, in every version; without `host_schema`. */
export const HOST_TABLES: ReadonlySet<string> = new Set(
  HOST_MIGRATIONS.flat().flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []),
)
