import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { propertyOf } from '../../../schema/arguments.ts'
import { ForgeError, isForgeError } from '../../../schema/errors.ts'
import { isError } from '../../../schema/realms.ts'
import type { HostThing } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import type { SqlContext } from '../context.ts'
import type { HostColumn } from '../dialect.ts'
import { compileStatement, rawQuery } from '../query.ts'
import type { Session } from '../session.ts'
import { query } from '../session.ts'
import type { HostKey, TypeOfKey } from './keys.ts'
import { named } from './references.ts'
import type { DescribedTable, HostTableOption } from './tables.ts'
import { describedTables, hasKeys, isFenced } from './tables.ts'

/** The kinds of rows in tables to whose rows forgelet's refer. */
const KEY_OF: { readonly [K in HostTableOption]: HostThing | undefined } = {
  users: 'user',
  organizations: 'organization',
  members: undefined,
  repositories: 'repository',
  issues: 'issue',
  pullRequests: 'issue',
}

/**
 * Checks that the tables of the host match their description, and that what follows them may be created.
 *
 * @returns the types of the host's keys, where forgelet's columns must have the same type
 * @throws ForgeError `SCHEMA_CONFLICT`, which names everything that does not fit
 */
export function* checkCatalogue(session: Session, context: SqlContext): SyncOrAsync<TypeOfKey> {
  const { dialect } = context
  const types = new Map<object, string>()
  const all: string[] = []
  for (const [described, found] of yield* columnsOfEach(session, context)) {
    const { host, columns } = described
    all.push(...misfitsOf(context, described, found), ...lackingOf(context, described, found))
    const key = found.find(({ column }) => column === columns['id'])
    if (key !== undefined) types.set(host, key.type)
  }
  if (all.length > 0) throw conflict(all)
  yield* checkConditions(session, context)
  return ({ host, thing }: HostKey) => {
    const type = types.get(host)
    return type === undefined || dialect.isOwnType(context.ids.columns[thing], type) ? undefined : type
  }
}

/** Returns what the tables of the host do not have, or have in another way, as sentences. */
export function* misfits(session: Session, context: SqlContext): SyncOrAsync<readonly string[]> {
  return (yield* columnsOfEach(session, context)).flatMap(([described, found]) => misfitsOf(context, described, found))
}

/** Returns the described tables with the columns that the database has of each. */
function* columnsOfEach(
  session: Session,
  { tables, dialect }: SqlContext,
): SyncOrAsync<readonly (readonly [DescribedTable, readonly HostColumn[]])[]> {
  const each: (readonly [DescribedTable, readonly HostColumn[]])[] = []
  for (const described of describedTables(tables)) {
    each.push([described, yield* query(session, dialect.hostColumns(described.host))])
  }
  return each
}

/** A condition on the rows of a table: one that the host wrote, or a comparison of a column. */
interface Condition {
  readonly path: string
  readonly host: DescribedTable['host']
  readonly asked: RawBuilder<unknown>
  /** What a refusal is about, as the end of "the database refuses". */
  readonly what: string
}

function conditionsOf({ tables }: SqlContext): readonly Condition[] {
  return describedTables(tables).flatMap(({ name, host, conditions }) =>
    Object.entries(conditions).map(([option, text]) => ({
      path: `tables.${name}.${option}`,
      host,
      asked: sql.raw(text),
      what: `the condition on ${host.table}`,
    })),
  )
}

/** Returns the columns that statements compare with ids and numbers. */
function comparisonsOf(context: SqlContext): readonly Condition[] {
  return describedTables(context.tables).flatMap(({ name, host, columns }) =>
    Object.entries(columns).flatMap(([option, column]) => {
      const type = comparedType(context, option)
      if (type === undefined) return []
      const asked = sql`${sql.id(column)} = ${type === context.dialect.uncast ? sql`null` : sql`cast(null as ${type})`}`
      const what = `to compare ${host.table}.${column} with ${option === 'number' ? 'a number' : 'an id'}`
      return [{ path: `tables.${name}.${option}`, host, asked, what }]
    }),
  )
}

/** Returns the type of the values with which statements compare the column that an option names. */
function comparedType({ dialect, ids }: SqlContext, option: string): RawBuilder<unknown> | undefined {
  if (option === 'number') return dialect.casts.integer
  const thing = REFERS[option]
  return thing && dialect.casts.id[ids.columns[thing]]
}

/** The options that name a column of ids, with what the ids refer to. */
const REFERS: Readonly<Record<string, HostThing>> = {
  organization: 'organization',
  user: 'user',
  'owner.organization': 'organization',
  'owner.user': 'user',
  repository: 'repository',
  author: 'user',
}

/** Returns the conditions that the database refuses, as sentences. Not for a transaction, which fails behind the first. */
export function* refusedConditions(session: Session, context: SqlContext): SyncOrAsync<readonly string[]> {
  const all: string[] = []
  for (const condition of conditionsOf(context)) all.push(...(yield* refusalOf(session, context, condition)))
  return all
}

/** Checks that the database accepts each comparison and condition. @throws ForgeError `SCHEMA_CONFLICT`, which names the first that it refuses */
export function* checkConditions(session: Session, context: SqlContext): SyncOrAsync<void> {
  for (const condition of [...comparisonsOf(context), ...conditionsOf(context)]) {
    const refusal = yield* refusalOf(session, context, condition)
    if (refusal.length > 0) throw conflict(refusal)
  }
}

/**
 * Runs a condition once, on no row. Returns why the database refuses it, if it does. The table has another name there, as in most
 * statements, so that a condition which names the table is refused.
 */
function* refusalOf(
  session: Session,
  { build }: SqlContext,
  { path, host, asked, what }: Condition,
): SyncOrAsync<readonly string[]> {
  const attempt = sql`select 1 as tried from ${named(host)} as a_row where (${asked}) and 1 = 0`
  try {
    yield* query(session, compileStatement(rawQuery(build, attempt)))
    return []
  } catch (error) {
    if (isForgeError(error, 'STORAGE_BUSY')) throw error
    return [`${path}: the database refuses ${what}: ${saidBy(error)}`]
  }
}

function conflict(faults: readonly string[]): ForgeError<'SCHEMA_CONFLICT'> {
  const message = `the tables of the host do not fit: ${faults.join('; ')}`
  return new ForgeError('SCHEMA_CONFLICT', message, { name: faults[0]?.split(':')[0] ?? '' })
}

/** Returns what the database said: that is the innermost of the errors. */
export function saidBy(error: unknown): string {
  const cause = propertyOf(error, 'cause')
  if (isError(cause)) return saidBy(cause)
  const texts = [propertyOf(error, 'message'), propertyOf(error, 'hint')] // a hint is of PostgreSQL
  return texts.filter((text) => typeof text === 'string' && text !== '').join('; ')
}

/** Returns the privileges that the user lacks. Only the user who creates what follows a table needs them. */
function lackingOf(
  { dialect, tables }: SqlContext,
  { name, host, columns }: DescribedTable,
  found: readonly HostColumn[],
): readonly string[] {
  const { keys, triggers } = dialect.privileges
  const needed = name === 'members' ? (isFenced(tables) ? triggers : []) : hasKeys(tables, host) ? keys : []
  const asked = found.filter(({ column }) => Object.values(columns).includes(column))
  const lacking = new Set(asked.flatMap(({ lacks }) => lacks.split(',')))
  return needed
    .filter((privilege) => lacking.has(privilege))
    .map((privilege) => `tables.${name}: the user lacks ${privilege} for ${fullNameOf(host)}`)
}

/** Returns the name of a table, behind that of its schema if the host names one. */
export function fullNameOf({ schema, table }: DescribedTable['host']): string {
  return schema === undefined ? table : `${schema}.${table}`
}

function misfitsOf(
  { dialect, ids, tables }: SqlContext,
  { name, host, columns }: DescribedTable,
  found: readonly HostColumn[],
): readonly string[] {
  const table = fullNameOf(host)
  const [any] = found
  if (any === undefined) {
    const [, schema, rest] = /^([^.]+)\.(.+)$/.exec(host.table) ?? []
    const isQualified = host.schema === undefined && schema !== undefined
    const advice = isQualified
      ? `: name the schema in tables.${name}.schema: { schema: '${schema}', table: '${rest}' }`
      : ''
    return [`tables.${name}.table: the database has no table ${table}${advice}`]
  }

  const misfits: string[] = []
  const add = (option: string, fault: string): void => void misfits.push(`tables.${name}.${option}: ${table}${fault}`)
  const names = found.map(({ column }) => column)
  for (const [option, column] of Object.entries(columns)) {
    if (!names.includes(column)) add(option, ` has no column ${column}, only ${names.join(', ')}`)
  }
  const unseen = found.find(({ column, untriggered }) => untriggered !== '' && Object.values(columns).includes(column))
  if (name === 'members' && isFenced(tables) && unseen !== undefined) {
    add('table', ` ${unseen.untriggered}, so that no trigger can refuse a member: set check: 'none'`)
  }
  for (const option of ['createdAt', 'updatedAt']) {
    const time = found.find(({ column }) => column === columns[option])
    if (time === undefined || dialect.isTime(time.type)) continue
    const advice = 'name a column of times, such as a generated one, or leave it out'
    add(option, `.${time.column} is ${time.type}, and not a time: ${advice}`)
  }
  const thing = KEY_OF[name]
  const key = found.find(({ column }) => column === columns['id'])
  if (thing === undefined || key === undefined) return misfits

  const chosen = ids.columns[thing]
  if (!dialect.fitsType(chosen, key.type)) {
    const fitting = (['bigint', 'text', 'uuid'] as const).find((type) => dialect.fitsType(type, key.type))
    const advice = fitting === undefined ? 'no ids fit it, so change its type' : `set ids: { ${thing}: '${fitting}' }`
    add('id', `.${key.column} is ${key.type}, and ids.${thing} is ${chosen}: ${advice}`)
  }
  if (!hasKeys(tables, host)) return misfits
  if (any.misfit !== '') add('table', ` ${any.misfit}: set keys: false`)
  else if (key.isUnique !== 1) {
    add('id', `.${key.column} is neither the primary key nor unique, without a key that is deferrable`)
  }
  return misfits
}
