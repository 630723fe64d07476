import type { ColumnDefinitionBuilder, Compilable, Generated, Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../index.ts'
import type { SqlContext } from '../../storage/sql/context.ts'

/**
 * What a document says of the author of an issue or comment that was imported. Names and ids are those of the forge that
 * the document comes from.
 */
interface AuthorColumns {
  readonly author_id: number
  readonly author_name: string
  readonly author_email: string | null
}

/** A reaction. `user_id` and `user_name` are the document's; `account_id` is the account here, if there is one. */
interface ReactionColumns {
  readonly place: number
  readonly user_id: number
  readonly user_name: string | null
  readonly content: string
  readonly account_id: Id | null
}

/** The columns and tables that the issue exchange needs, beside those of the first version. */
export interface ExchangeTables {
  readonly milestones: {
    readonly id: Id
    readonly repository_id: Id
    readonly title: string
    readonly description: string
    readonly state: 'open' | 'closed'
    readonly deadline: number | null
    readonly created_at: number | null
    readonly updated_at: number | null
    readonly closed_at: number | null
    /** The offsets of the four times, as JSON. Null: all are in UTC. */
    readonly offsets: string | null
  }
  /** The names of the assignees of imported issues, at the same places as their accounts in `issue_assignees`. */
  readonly issue_assignee_names: { readonly issue_id: Id; readonly place: number; readonly name: string }
  readonly issue_reactions: { readonly issue_id: Id } & ReactionColumns
  readonly comments: {
    readonly id: Id
    readonly issue_id: Id
    /** The author's account. Null: the author has none here. */
    readonly poster_id: Id | null
    readonly content: string
    readonly created_at: number
    readonly updated_at: number
    readonly offsets: string | null
  } & AuthorColumns
  readonly comment_reactions: { readonly comment_id: Id } & ReactionColumns
  /** Deleted issues: their ids and numbers are not assigned again. */
  readonly deleted_issues: { readonly id: Id; readonly repository_id: Id; readonly issue_index: number }
}

/** New columns of the issues. A release that does not know them writes their defaults. */
export interface ExchangeIssueColumns {
  /** The target branch of an issue. */
  readonly ref: Generated<string>
  readonly milestone_id: Generated<Id | null>
  /** Null: the issue was written here, and its poster is the author. */
  readonly author_id: Generated<number | null>
  readonly author_name: Generated<string | null>
  readonly author_email: Generated<string | null>
  /** The offsets of the times of creation, change and closing, as JSON. Null: all are in UTC. */
  readonly offsets: Generated<string | null>
  /** 0: the poster is not the author, but who imported the issue, or the owner of the repository. */
  readonly poster_is_author: Generated<number>
}

/** What the statements are built with. */
interface TableContext extends Pick<SqlContext, 'prefix' | 'dialect'> {
  readonly build: Pick<Kysely<unknown>, 'schema'>
}

type Change = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder

const notNull: Change = (column) => column.notNull()
const key: Change = (column) => column.primaryKey().notNull()
const nullable =
  (table: 'accounts' | 'milestones'): Change =>
  (column) =>
    column.references(`${table}.id`)
const of =
  (table: 'repositories' | 'issues' | 'comments'): Change =>
  (column) =>
    column.notNull().references(`${table}.id`)

/** Creates the tables and columns. It only adds: a release of the first version goes on beside. */
export function exchangeTables(context: TableContext): readonly Compilable<unknown>[] {
  return [...newTables(context), ...newColumns(context), ...newIndexes(context)]
}

/** Creates the column for the offsets of milestones. A release that does not know it leaves it empty. */
export function milestoneOffsets({ build, dialect: { types } }: TableContext): readonly Compilable<unknown>[] {
  return [build.schema.alterTable('milestones').addColumn('offsets', types.text)]
}

function newTables({ build, prefix, dialect: { types, tableEnd } }: TableContext): readonly Compilable<unknown>[] {
  const reactions = (table: 'issue_reactions' | 'comment_reactions', column: string, owner: Change) =>
    build.schema
      .createTable(table)
      .addColumn(column, types.integer, owner)
      .addColumn('place', types.integer, notNull)
      .addColumn('user_id', types.integer, notNull)
      .addColumn('user_name', types.text)
      .addColumn('content', types.text, notNull)
      .addColumn('account_id', types.integer, nullable('accounts'))
      .addPrimaryKeyConstraint(`${prefix}${table}_pk`, [column, 'place'])

  return [
    build.schema
      .createTable('milestones')
      .addColumn('id', types.integer, key)
      .addColumn('repository_id', types.integer, of('repositories'))
      .addColumn('title', types.text, notNull)
      .addColumn('description', types.text, notNull)
      .addColumn('state', types.key, notNull)
      .addColumn('deadline', types.integer)
      .addColumn('created_at', types.integer)
      .addColumn('updated_at', types.integer)
      .addColumn('closed_at', types.integer),
    build.schema
      .createTable('issue_assignee_names')
      .addColumn('issue_id', types.integer, of('issues'))
      .addColumn('place', types.integer, notNull)
      .addColumn('name', types.text, notNull)
      .addPrimaryKeyConstraint(`${prefix}issue_assignee_names_pk`, ['issue_id', 'place']),
    reactions('issue_reactions', 'issue_id', of('issues')),
    build.schema
      .createTable('comments')
      .addColumn('id', types.integer, key)
      .addColumn('issue_id', types.integer, of('issues'))
      .addColumn('poster_id', types.integer, nullable('accounts'))
      .addColumn('content', types.text, notNull)
      .addColumn('created_at', types.integer, notNull)
      .addColumn('updated_at', types.integer, notNull)
      .addColumn('offsets', types.text)
      .addColumn('author_id', types.integer, notNull)
      .addColumn('author_name', types.text, notNull)
      .addColumn('author_email', types.text),
    reactions('comment_reactions', 'comment_id', of('comments')),
    build.schema
      .createTable('deleted_issues')
      .addColumn('id', types.integer, key)
      .addColumn('repository_id', types.integer, of('repositories'))
      .addColumn('issue_index', types.integer, notNull)
      .addUniqueConstraint(`${prefix}deleted_issues_index`, ['repository_id', 'issue_index']),
  ].map((table) => table.modifyEnd(tableEnd))
}

function newColumns({ build, dialect: { types } }: TableContext): readonly Compilable<unknown>[] {
  const issues = build.schema.alterTable('issues')
  return [
    issues.addColumn('ref', types.text, (column) => column.notNull().defaultTo('')),
    issues.addColumn('milestone_id', types.integer, nullable('milestones')),
    issues.addColumn('author_id', types.integer),
    issues.addColumn('author_name', types.text),
    issues.addColumn('author_email', types.text),
    issues.addColumn('offsets', types.text),
    issues.addColumn('poster_is_author', types.integer, (column) => column.notNull().defaultTo(sql.lit(1))),
    // A document may have any text as a color. Where a key is a text, nothing changes.
    ...(types.key === types.text ? [] : [build.schema.alterTable('labels').modifyColumn('color', types.text, notNull)]),
  ]
}

function newIndexes({ build, prefix }: TableContext): readonly Compilable<unknown>[] {
  const index = (
    name: string,
    table: 'labels' | 'milestones' | 'comments' | 'issues',
    columns: readonly ('repository_id' | 'issue_id' | 'milestone_id' | 'state' | 'kind')[],
  ) =>
    build.schema
      .createIndex(`${prefix}${name}`)
      .on(table)
      .columns([...columns])

  return [
    index('labels_repository', 'labels', ['repository_id']),
    index('milestones_repository', 'milestones', ['repository_id']),
    index('comments_issue', 'comments', ['issue_id']),
    // What is open in a repository and in a milestone is counted for every list of issues.
    index('issues_open', 'issues', ['repository_id', 'state', 'kind']),
    index('issues_milestone', 'issues', ['milestone_id', 'state']),
  ]
}
