import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Id } from '../../../schema/ids.ts'
import { toId } from '../../../schema/ids.ts'
import type { HostContext, HostPorts, Standing } from '../../contract/host.ts'
import type { BlockKey } from '../../contract/stores.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { Query, QueryValues } from '../query.ts'
import type { SqlRuntime } from '../session.ts'
import { compiled } from './lookups.ts'
import { also, named } from './references.ts'
import type { HostTables } from './tables.ts'

/** What is found of a member: 1. 0 says that the transaction does not see members who joined since its snapshot. */
export interface MemberRow {
  readonly found: number
}

/**
 * Returns the query whether a user is a member of an organization; undefined if the storage does not know the members.
 *
 * @param isGuarded - whether a decision about a block depends on it, so that it must say what it may not see
 */
export function memberQuery(
  context: SqlContext,
  { isGuarded }: { readonly isGuarded: boolean },
): Query<BlockKey, MemberRow> | undefined {
  const { tables, ids, dialect } = context
  const members = tables?.members
  if (members === undefined) return undefined
  return compiled(context, (given: QueryValues<BlockKey>) => {
    const organization = sql`${sql.id(members.organization)} = ${ids.given('organization', given('organizationId'))}`
    const user = sql`${sql.id(members.user)} = ${ids.given('user', given('userId'))}`
    const found = sql<MemberRow>`select ${dialect.number(sql`1`)} as found from ${named(members)} where ${organization} and ${user}${also(members.where)}`
    if (!isGuarded || dialect.readsSnapshot === undefined || members.check === 'none') return found
    return sql<MemberRow>`${found} union all select ${dialect.number(sql`0`)} where ${dialect.readsSnapshot}`
  })
}

/** Returns whether a query has found a member. */
export function hasMember(rows: readonly MemberRow[]): boolean {
  return rows.some(({ found }) => found === 1)
}

/** Refuses to block a user who may have become a member since. @throws TypeError if the query could not see that */
export function refuseSnapshot(rows: readonly MemberRow[]): void {
  if (rows.every(({ found }) => found !== 0)) return
  throw new TypeError(
    'a block in a transaction that reads a snapshot does not see new members: begin it at READ COMMITTED',
  )
}

export function memberPorts<Tx>(
  context: SqlContext,
  { members, organizations }: HostTables,
  runtime: SqlRuntime<Tx>,
): Partial<HostPorts<Tx>> {
  const find = memberQuery(context, { isGuarded: false })
  if (members === undefined || organizations === undefined || find === undefined) return {}
  const { ids, dialect } = context
  const id = sql.id(organizations.id ?? 'id')
  const standing = compiled<{ organizationId: Id; actorId: Id | null }, StandingRow>(context, (given) => {
    const columns = standingOf(
      dialect,
      members,
      sql`organization.${id}`,
      ids.given('user', given('actorId')),
      flag(dialect, organizations.private),
    )
    return sql`select ${columns} from ${named(organizations)} as organization where organization.${id} = ${ids.given('organization', given('organizationId'))}${also(organizations.where)}`
  })
  return {
    isMember: (member, { transaction }) =>
      runtime.read((session) => after(session.first(find(member)), (row) => row !== undefined), transaction),
    standingInOrganization: (organizationId, port) =>
      runtime.read(
        (session) =>
          after(session.first(standing({ organizationId, actorId: actorIdIn(port) })), (row) => row && toStanding(row)),
        port.transaction,
      ),
  }
}

/** What the tables say of a user, as a statement returns it. */
export interface StandingRow {
  readonly isMember: number
  readonly isOwner: number
  readonly isPrivate: number
}

/** Returns whether a row meets a condition of the host, as 1 or 0. */
export function flag(dialect: SqlContext['dialect'], condition: string | undefined): RawBuilder<number> {
  return dialect.number(condition === undefined ? sql`0` : sql`case when (${sql.raw(condition)}) then 1 else 0 end`)
}

/** The columns of what the members say of a user in an organization. */
export function standingOf(
  dialect: SqlContext['dialect'],
  members: HostTables['members'],
  organization: RawBuilder<unknown>,
  actorId: RawBuilder<unknown>,
  isPrivate: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const among = (condition: string | undefined): RawBuilder<number> => {
    if (members === undefined) return dialect.number(sql`0`)
    const row = sql`select 1 from ${named(members)} as member where ${sql.ref(`member.${members.organization}`)} = ${organization} and ${sql.ref(`member.${members.user}`)} = ${actorId}${also(members.where)}${also(condition)}`
    return dialect.number(sql`case when exists (${row}) then 1 else 0 end`)
  }
  const isOwner = members?.owner === undefined ? dialect.number(sql`0`) : among(members.owner)
  return sql`${among(undefined)} as ${sql.id('isMember')}, ${isOwner} as ${sql.id('isOwner')}, ${isPrivate} as ${sql.id('isPrivate')}`
}

export function toStanding({ isMember, isOwner, isPrivate }: StandingRow): Standing {
  return { isMember: isMember === 1, isOwner: isOwner === 1, isPrivate: isPrivate === 1 }
}

/** The id of the user who asks; null for anyone else. */
export function actorIdIn<Tx>({ actor }: HostContext<Tx>): Id | null {
  if (typeof actor !== 'object' || actor === null || !('id' in actor)) return null
  const { id } = actor
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' ? toId(id, 'actor.id') : null
}
