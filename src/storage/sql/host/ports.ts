import { sql } from 'kysely'
import type { HostPorts } from '../../contract/host.ts'
import { after } from '../after.ts'
import type { SqlContext } from '../context.ts'
import type { SqlRuntime } from '../session.ts'
import type { Comparison, Found } from './lookups.ts'
import { compiled, EXACTLY, firstOf, rowOfName, WITHOUT_CASE } from './lookups.ts'
import { memberPorts } from './members.ts'
import { also, named } from './references.ts'
import { repositoryPorts } from './repositories.ts'
import { hostRows } from './rows.ts'
import type { HostTable, HostTables } from './tables.ts'

/** Returns the ports that the tables of the host answer: each whose tables the storage knows. */
export function hostPorts<Tx>(context: SqlContext, runtime: SqlRuntime<Tx>): Partial<HostPorts<Tx>> | undefined {
  const { tables } = context
  if (tables === undefined) return undefined
  return {
    ...accountPorts(context, tables, runtime),
    ...repositoryPorts(context, tables, runtime),
    ...memberPorts(context, tables, runtime),
    ...hostRows(context, tables, runtime),
  }
}

function accountPorts<Tx>(
  context: SqlContext,
  { users, organizations }: HostTables,
  runtime: SqlRuntime<Tx>,
): Pick<HostPorts<Tx>, 'findAccount'> | undefined {
  if (users === undefined) return undefined
  const { columns, dialect, ids } = context
  const finding = (table: HostTable & { readonly name?: string | undefined }) => {
    const [id, column] = [table.id ?? 'id', sql.id(table.name ?? 'name')]
    const by = (compare: Comparison) =>
      compiled<{ name: string }, Found>(context, (given) => {
        const name = ids.givenText(given('name'))
        const isExact = dialect.number(sql`case when ${dialect.exactly(column)} = ${name} then 1 else 0 end`)
        return sql`select ${columns.id(id)} as id, ${isExact} as ${sql.id('isExact')} from ${named(table)} where ${compare(column, name)}${also(table.where)} limit 3`
      })
    return [by(EXACTLY), by(WITHOUT_CASE)]
  }
  const queries = { user: finding(users), organization: organizations && finding(organizations) }

  return {
    findAccount: (name, { transaction }, wanted) =>
      runtime.read((session) => {
        const kinds = wanted === undefined ? (['user', 'organization'] as const) : [wanted]
        // Exact names of both kinds come before names that differ in case.
        const asks = [0, 1].flatMap((at) =>
          kinds.flatMap((kind) => {
            const find = queries[kind]?.[at]
            const toAccount = (rows: readonly Found[]) => {
              const row = rowOfName(rows)
              return row && { kind, id: row.id }
            }
            return find === undefined ? [] : [() => after(session.all(find({ name })), toAccount)]
          }),
        )
        return firstOf(asks)
      }, transaction),
  }
}
