import { expect, test } from 'vitest'
import type { HostThing } from '../../src/schema/records.ts'
import type { Retired } from '../../src/storage/contract/storage.ts'
import { HOST_THINGS } from '../../src/storage/sql/ids.ts'
import { TABLE_DESCRIPTIONS, valueType } from '../../src/storage/sql/schema/tables.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import type { DatabaseKind, TestDatabase } from '../databases.ts'
import { newDatabase } from '../databases.ts'
import type { HostDialect } from './tables-suite.ts'
import { HOST_TABLES, hostTables } from './tables-suite.ts'

/** The only tables whose rows keep the ids of what the host has deleted. */
const HISTORY: readonly string[] = ['events']

const descriptions = new Map(Object.entries(TABLE_DESCRIPTIONS))

/** Every other column that has ids of the host. */
const referring = [...descriptions].flatMap(([table, { columns }]) =>
  Object.entries(columns).flatMap(([column, type]) => {
    const thing = HOST_THINGS.find((one) => one === valueType(type))
    if (thing === undefined || HISTORY.includes(table)) return []
    return [{ table, column, thing, mayBeNull: String(type).endsWith('?') }]
  }),
)

const { pullRequest: _, where: __, ...issues } = HOST_TABLES.issues
const pullRequests = { table: 'host_pulls', repository: 'repo_id', number: 'number' }
const TABLES = { issue: HOST_TABLES, pullRequest: { ...HOST_TABLES, issues, pullRequests } }
const HOST_TABLE = { user: 'host_users', organization: 'host_orgs', repository: 'host_repos' }

/**
 * What the host deletes takes the rows of the forge with it, or leaves them without an actor. The cases are the columns that
 * `sql/schema/tables.ts` describes: a new table needs no new test.
 */
export function removalsSuite<Tx>(database: DatabaseKind<Tx>, dialect: HostDialect): void {
  test.each([
    { kind: 'issue', issueTable: 'host_issues' },
    { kind: 'pullRequest', issueTable: 'host_pulls' },
  ] as const)('no row of any table refers to what the host has deleted, in $issueTable too', async (made) => {
    const { kind, issueTable } = made
    const host = await newDatabase(database)
    for (const statement of hostTables(dialect)) await host.run(statement)
    const { serial, integer } = dialect
    await host.run(
      `create table host_pulls (id ${serial}, repo_id ${integer} not null, number ${integer} not null, foreign key (repo_id) references host_repos (id) on delete cascade)`,
    )
    await host.migrated({ tables: TABLES[kind] })

    expect(new Set(referring.map(({ thing }) => thing))).toEqual(new Set(HOST_THINGS))
    for (const [index, { table, column, thing, mayBeNull }] of referring.entries()) {
      const [kept, gone] = [index * 2 + 1, index * 2 + 2]
      for (const id of [kept, gone]) await addHostRows(host, id)
      await addRow(host, table, { id: kept, kind, changed: { [column]: gone } })
      const count = async (where: string) => (await host.run(`select * from forgelet_${table} where ${where}`)).length
      const rows = async () => ({ column, all: await count('1 = 1'), referring: await count(`${column} = ${gone}`) })
      const before = await rows()
      await host.run(`delete from ${{ ...HOST_TABLE, issue: issueTable }[thing]} where id = ${gone}`)

      const left = before.all - (mayBeNull ? 0 : 1)
      expect([table, before, await rows()]).toEqual([
        table,
        { column, all: before.all, referring: 1 },
        { column, all: left, referring: 0 },
      ])
    }
  })
}

/** The same for what the host reports, where the storage knows no table of the host. Who acted stays in the rows. */
export function retirementsSuite<Tx>(database: DatabaseKind<Tx>): void {
  test('no row of any table is about what is retired', async () => {
    const host = await newDatabase(database)
    const storage = await host.migrated()
    for (const [index, { table, column, thing }] of referring.filter(({ mayBeNull }) => !mayBeNull).entries()) {
      const [kept, gone] = [index * 2 + 1, index * 2 + 2]
      await addRow(host, table, { id: kept, kind: 'issue', changed: { [column]: gone } })
      const rows = async () => (await host.run(`select * from forgelet_${table} where ${column} = ${gone}`)).length
      const before = await rows()
      await retire(storage, retired(thing, `${gone}`, `${kept}`))

      const advice = `sqlRetirement in sql/stores/stores.ts removes the rows of ${table} when a ${thing} is retired`
      expect([table, column, before, await rows()], advice).toEqual([table, column, 1, 0])
    }
  })
}

function retired(thing: HostThing, id: string, repositoryId: string): Retired {
  if (thing === 'user') return { thing, userId: id }
  if (thing === 'organization') return { thing, organizationId: id }
  if (thing === 'repository') return { thing, repositoryId: id }
  return { thing, issueId: id, repositoryId, kind: 'issue' }
}

/** Adds a row with one id to each table of the host. */
async function addHostRows(host: Pick<TestDatabase, 'run'>, id: number): Promise<void> {
  await host.run(`insert into host_users (id, username) values (${id}, 'user${id}')`)
  await host.run(`insert into host_orgs (id, slug) values (${id}, 'org${id}')`)
  await host.run(`insert into host_repos (id, org_id, name) values (${id}, ${id}, 'repo${id}')`)
  await host.run(`insert into host_issues (id, repo_id, number) values (${id}, ${id}, ${id})`)
  await host.run(`insert into host_pulls (id, repo_id, number) values (${id}, ${id}, ${id})`)
}

/** What a row of a table of the forge has. */
interface RowValues {
  /** The number and the id in every column. */
  readonly id: number
  readonly kind: string
  /** Other values, by the name of their column. */
  readonly changed?: Readonly<Record<string, number>>
}

/** Adds a row to a table of the forge, and first a row to each table of the forge that it refers to. */
async function addRow(database: Pick<TestDatabase, 'run'>, table: string, row: RowValues): Promise<void> {
  const columns = Object.entries(descriptions.get(table)?.columns ?? {}).filter(([, type]) => type !== 'serial')
  for (const [, type] of columns) {
    const [, target] = /^id of (\w+)/.exec(String(type)) ?? []
    if (target !== undefined) await addRow(database, target, { id: row.id, kind: row.kind })
  }
  const values = columns.map(([column, type]) => {
    if (typeof type !== 'string') return `'${type.includes(row.kind) ? row.kind : type[0]}'`
    if (['key', 'text'].includes(valueType(type))) return `'${row.id}'`
    return row.changed?.[column] ?? row.id
  })
  await database.run(
    `insert into forgelet_${table} (${columns.map(([column]) => column).join()}) values (${values.join()})`,
  )
}
