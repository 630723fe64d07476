import type { Connection } from 'mysql2/promise'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSqlContext } from '../../../../src/storage/sql/context.ts'
import { mysqlDialect } from '../../../../src/storage/sql/dialects/mariadb.ts'
import type { Statement } from '../../../../src/storage/sql/query.ts'
import { defineQuery } from '../../../../src/storage/sql/query.ts'
import { MARIADB, newDatabase, onServer, SERVERS } from '../../../databases.ts'

const { build, dialect } = createSqlContext(mysqlDialect)
const { numberEvents } = dialect
if (numberEvents === undefined) throw new TypeError('events of MariaDB are numbered')

const number = defineQuery<{ readonly ids: string; readonly last: number }, unknown>((given) =>
  numberEvents(build, { ids: given('ids'), last: given('last') }),
)
const remove = defineQuery<{ readonly ids: string }, unknown>((given) => dialect.removeEvents(build, given('ids')))

onServer(SERVERS.mariadb, () => {
  let connection: Connection

  beforeAll(async () => {
    const database = await newDatabase(MARIADB, { atEnd: afterAll })
    await database.migrated()
    connection = await createConnection(database.url)
  })

  afterAll(() => connection.end())

  // Found in another way, events that are not committed would be locked, and so waited for.
  describe.each([0, 2, 5, 50])('of %i events', (count) => {
    test.each([
      ['numbered', number({ ids: '["1","2"]', last: 7 })],
      ['removed', remove({ ids: '["1","2"]' })],
    ])('those that are %s are found by their key', async (_, statement) => {
      await writeEvents(connection, count)
      const plan = await planOf(connection, statement)

      expect(plan.find((step) => step['table'] === 'event')).toMatchObject({ type: 'eq_ref', key: 'PRIMARY' })
    })
  })

  test('those without a position are found in order, however many there are', async () => {
    await writeEvents(connection, 2000)
    const sql = 'select id from forgelet_events where position is null order by id limit 10'
    const [step] = await planOf(connection, { sql, parameters: [], returnsRows: true })

    expect(step).toMatchObject({ key: 'forgelet_events_position', Extra: expect.not.stringContaining('filesort') })
  })
})

async function writeEvents(connection: Connection, count: number): Promise<void> {
  await connection.query('delete from forgelet_events')
  if (count === 0) return
  const rows = Array.from({ length: count }, () => "('issue.moved', 1, 0, '{}')").join()
  await connection.query(`insert into forgelet_events (type, version, at, data) values ${rows}`)
}

async function planOf(
  connection: Connection,
  { sql, parameters }: Statement<unknown>,
): Promise<readonly Record<string, unknown>[]> {
  const [rows] = await connection.query(`explain ${sql}`, [...parameters])
  if (!Array.isArray(rows)) throw new TypeError('a plan is rows')
  return rows.map((row) => ({ ...row }))
}
