import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { HostThing, PinKind } from '../../../schema/records.ts'
import type { SqlContext } from '../context.ts'
import type { SchemaStatement } from '../dialect.ts'
import { schemaStatement } from '../dialect.ts'
import { HOST_THINGS } from '../ids.ts'
import { rawQuery } from '../query.ts'
import { TABLE_DESCRIPTIONS, valueType } from '../schema/tables.ts'
import { isGone, named, ownColumn } from './references.ts'
import type { HostTable, HostTables } from './tables.ts'
import { hasKeys, hasTwoIssueTables, isFenced, tableOf } from './tables.ts'

/**
 * The tables whose rows go with the rows of the host that they are about: those with a column that always has an id of the
 * host. In the history, each may be null: its rows stay.
 */
const FOLLOWING = Object.entries(TABLE_DESCRIPTIONS).filter(([, { columns }]) =>
  HOST_THINGS.some((thing) => Object.values(columns).includes(thing)),
)

/** The generated columns that refer to one of two tables of issues. */
const OF_KIND = { issue: 'issue_ref', pullRequest: 'pull_request_ref' } as const satisfies Record<PinKind, string>

/** A column of forgelet that refers to a table of the host. */
export interface HostKey {
  readonly table: string
  readonly column: string
  readonly thing: HostThing
  readonly host: HostTable
  /** Whether the column says who acted: then the row stays without it. */
  readonly isActor: boolean
  /** Of which kind of issue the key is, where each has a table. */
  readonly kind: PinKind | undefined
}

/**
 * Returns the columns that have keys to tables of the host. PostgreSQL checks the keys of a row in the
 * order in which they were created, and locks the rows of the host so: what owns comes before what is owned.
 */
export function hostKeys(tables: HostTables | undefined): readonly HostKey[] {
  return FOLLOWING.flatMap(([table, { columns }]) =>
    HOST_THINGS.flatMap((thing) => {
      const kinds = thing === 'issue' && hasTwoIssueTables(tables) ? (['issue', 'pullRequest'] as const) : [undefined]
      const ofThing = Object.entries(columns).filter(([, type]) => valueType(type) === thing)
      return ofThing.flatMap(([column, type]) =>
        kinds.flatMap((kind) => {
          const host = tableOf(tables, { thing, kind })
          if (host === undefined || !hasKeys(tables, host)) return []
          return [{ table, column, thing, host, kind, isActor: type !== thing }]
        }),
      )
    }),
  )
}

/** Something of forgelet by its name, and the table of the host that it refers to, is on or reads. */
export interface NameOn {
  readonly name: string
  readonly on: Pick<HostTable, 'table' | 'schema'>
}

/** Describes what the tables of the forge follow: it is stored, and compared with what a storage is opened with. */
export function describeTables(tables: HostTables | undefined): string {
  if (tables === undefined) return ''
  const { members, keys = true } = tables
  const rows = (['users', 'organizations', 'repositories', 'issues', 'pullRequests'] as const).map((name) => {
    const { table, schema, id = 'id', where, keys: own } = tables[name] ?? {}
    return [name, table && { table, schema, id, where, ...(own === false && { keys: own }) }]
  })
  const { table, schema, organization, user, where, check = 'trigger' } = members ?? {}
  const fence = table && { table, schema, organization, user, where, check }
  return JSON.stringify({ keys, ...Object.fromEntries(rows), members: fence })
}

/** Returns the type of the column of a key, where it must be that of the host. Undefined: it stays as it is. */
export type TypeOfKey = (key: HostKey) => string | undefined

/**
 * Returns the statements that make the tables of the forge follow those of the host, in place of what earlier statements of
 * this kind have created. They can be run again.
 */
export function followingStatements(context: SqlContext, typeOf: TypeOfKey): readonly SchemaStatement[] {
  const { dialect, tables, build } = context
  const keys = hostKeys(tables)
  const members = tables?.members
  const { follows } = dialect
  const blocked = (thing: 'organization' | 'user') => ownColumn(context, { thing }, `${thing}_id`)
  const made = follows.by === 'triggers' ? removalTriggers(context, keys) : foreignKeys(context, keys, typeOf)
  // Others may add an orphan meanwhile, unless they wait for the migration. Behind a key that was not checked, none can.
  const removed = keys.map((key) => orphans(context, key))
  const isUnchecked = follows.by === 'keys' && follows.unchecked !== undefined
  const statements = [
    ...removedKeys(context),
    ...keys.flatMap((key) => (key.isActor ? [actorIndex(context, key)] : [])),
    ...(isUnchecked ? [...made, ...removed] : [...removed, ...made]),
    ...(members === undefined || members.check === 'none'
      ? []
      : dialect.fence.create({
          ...fenceOf(context),
          members: named(members),
          organization: sql.id(members.organization),
          user: sql.id(members.user),
          where: members.where === undefined ? undefined : sql.raw(members.where),
          heads: sql.table('heads'),
          blocks: sql.table('organization_blocks'),
          blocked: { organization: blocked('organization'), user: blocked('user') },
        })),
  ]
  return statements.map((text) => schemaStatement(rawQuery(build, text)))
}

/** Returns the keys and triggers that must be there, and the table of the host of each. */
export function followingNames(context: SqlContext): readonly NameOn[] {
  const { dialect, tables } = context
  const keys = hostKeys(tables)
  const following = keys.flatMap((key): readonly NameOn[] => {
    const on = key.host
    if (dialect.follows.by === 'keys') return [{ name: keyName(context, key), on }]
    return triggerNames(context, removalOf(key)).map((name) => ({ name, on }))
  })
  const { members } = tables ?? {}
  if (members === undefined || !isFenced(tables)) return following
  return [...following, ...dialect.fence.names(fenceOf(context).name).map((name) => ({ name, on: members }))]
}

function removedKeys(context: SqlContext): readonly RawBuilder<unknown>[] {
  const { dialect } = context
  const { follows } = dialect
  const drops =
    follows.by === 'triggers'
      ? (['user', 'organization', 'repository', 'issue', 'pullRequest'] as const)
          .flatMap((removal) => triggerNames(context, removal))
          .map((name) => sql`drop trigger if exists ${sql.id(name)}`)
      : EVERY_KEY.map((key) => {
          const names = ['', ...follows.renamed].map((before) => `${before}${keyName(context, key)}`)
          const dropped = names.map((name) => sql`drop ${sql.raw(follows.dropped)} if exists ${sql.id(name)}`)
          return sql`alter table ${sql.table(key.table)} ${sql.join(dropped)}`
        })
  return [...drops, ...dialect.fence.drop(fenceOf(context))]
}

/** Every key that tables of a host may have. */
const ANY_TABLE = { table: 'any', repository: 'any', number: 'any', owner: {} }
const EVERY_KEY: readonly HostKey[] = [
  ...hostKeys({ users: ANY_TABLE, organizations: ANY_TABLE, repositories: ANY_TABLE, issues: ANY_TABLE }),
  ...hostKeys({ issues: ANY_TABLE, pullRequests: ANY_TABLE }),
]

function keyName({ prefix }: SqlContext, { table, column, kind }: HostKey): string {
  return `${prefix}${table}_${kind === undefined ? column : OF_KIND[kind]}_fk`
}

function fenceOf({ prefix, schema }: SqlContext): { readonly name: string; readonly schema: string | undefined } {
  return { name: `${prefix}members_not_blocked`, schema }
}

/** Removes what refers to rows that the host deleted before there were keys. */
function orphans(context: SqlContext, key: HostKey): RawBuilder<unknown> {
  const ours = sql.table(key.table)
  if (key.isActor) return sql`update ${ours} set ${sql.id(key.column)} = null where ${missingRow(context, key)}`
  return sql`delete from ${ours} where ${missingRow(context, key)}`
}

/** Returns the condition that a column refers to a row that the host has deleted. */
export function missingRow(context: SqlContext, { table, column, host, kind }: HostKey): RawBuilder<unknown> {
  const key = sql.ref(`${table}.${column}`)
  return sql`${key} is not null and ${isGone(context, host, key)}${isOfKind(kind)}`
}

function isOfKind(kind: HostKey['kind']): RawBuilder<unknown> {
  return kind === undefined ? sql`` : sql` and kind = ${sql.lit(kind)}`
}

/** Without it, each deletion of a user reads the whole table. */
function actorIndex({ dialect, prefix }: SqlContext, { table, column }: HostKey): RawBuilder<unknown> {
  const name = sql.id(`${prefix}${table}_${column}`)
  const where = dialect.partialIndexes ? sql` where ${sql.id(column)} is not null` : sql``
  return sql`create index if not exists ${name} on ${sql.table(table)} (${sql.id(column)})${where}`
}

function foreignKeys(context: SqlContext, keys: readonly HostKey[], typeOf: TypeOfKey): readonly RawBuilder<unknown>[] {
  const { ids, dialect } = context
  const unchecked = (dialect.follows.by === 'keys' && dialect.follows.unchecked) || sql``
  return keys.flatMap((key) => {
    const { table, column, thing, host, isActor, kind } = key
    const [ours, given] = [sql.table(table), typeOf(key)]
    const type = given === undefined ? ids.type(thing) : sql.raw(given)
    const isNull = sql.raw(isActor ? 'null' : 'not null')
    const typed =
      given === undefined ? [] : [sql`alter table ${ours} modify column ${sql.id(column)} ${type} ${isNull}`]
    const referring = kind === undefined ? column : OF_KIND[kind]
    const generated = kind && [
      sql`alter table ${ours} add column if not exists ${sql.id(referring)} ${type} generated always as (case kind when ${sql.lit(kind)} then ${sql.id(column)} end) stored`,
    ]
    const target = sql`${named(host)} (${sql.id(host.id ?? 'id')})`
    return [
      ...typed,
      ...(generated ?? []),
      sql`${unchecked}alter table ${ours} add constraint ${sql.id(keyName(context, key))} foreign key (${sql.id(referring)}) references ${target} on delete ${sql.raw(isActor ? 'set null' : 'cascade')}`,
    ]
  })
}

/** What is removed: a thing of the host, or a pull request that has a table of its own. */
type Removal = HostThing | 'pullRequest'

function removalOf({ thing, kind }: HostKey): Removal {
  return kind === 'pullRequest' ? kind : thing
}

function triggerNames({ prefix }: SqlContext, removal: Removal): readonly [removed: string, kept: string] {
  const name = `${prefix}${removal === 'pullRequest' ? 'pull_request' : removal}`
  return [`${name}_removed`, `${name}_id_kept`]
}

function removalTriggers(context: SqlContext, keys: readonly HostKey[]): readonly RawBuilder<unknown>[] {
  return [...new Set(keys.map(removalOf))].flatMap((removal) => {
    const own = keys.filter((key) => removalOf(key) === removal)
    const [first] = own
    if (first === undefined) return []
    const { host } = first
    const [removed, kept] = triggerNames(context, removal)
    const id = sql.id(host.id ?? 'id')
    const old = sql`old.${id}`
    const referring = own.map(
      ({ table, column, kind }) =>
        sql`exists (select 1 from ${sql.table(table)} where ${sql.id(column)} = ${old}${isOfKind(kind)})`,
    )
    const steps = own.map(({ table, column, isActor, kind }) => {
      const [ours, where] = [sql.table(table), sql`${sql.id(column)} = ${old}`]
      if (isActor) return sql`update ${ours} set ${sql.id(column)} = null where ${where};`
      return sql`delete from ${ours} where ${where}${isOfKind(kind)};`
    })
    return [
      sql`create trigger ${sql.id(removed)} after delete on ${named(host)} begin ${sql.join(steps, sql` `)} end`,
      // As a foreign key does: the id of a row that is referred to does not change.
      sql`create trigger ${sql.id(kept)} before update of ${id} on ${named(host)} when new.${id} is not ${old} and (${sql.join(referring, sql` or `)}) begin select raise(abort, 'the forge refers to this row by its id'); end`,
    ]
  })
}
