import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../src/storage/postgres.ts'
import { olga } from '../../../core/a-forge.ts'
import { newDatabase, onServer, POSTGRES, SERVERS } from '../../../databases.ts'
import { forgeOn } from '../../forge-on.ts'

const ISSUE = { id: 1, repositoryId: 2, kind: 'issue' } as const
const LIMIT = 1000

onServer(SERVERS.postgres, () => {
  test('PostgreSQL compiles no query on tables that have been written often and never analyzed', async () => {
    const { url } = await newDatabase(POSTGRES)
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    pool.on('error', () => undefined) // the database may go before its last connection has ended
    onTestFinished(() => pool.end())
    const storage = postgresStorage<pg.PoolClient>(pool)
    await storage.migrate()
    const forge = forgeOn(storage)
    await forge.badges.catalogue.define(olga, { slug: 'a' })
    await forge.badges.grant(olga, { userId: 3, slugs: ['a'] })
    await forge.badges.holders(olga, { slug: 'a', page: 1, limit: LIMIT })
    await forge.badges.heldByMany(olga, [3])
    await forge.pins.pin(olga, ISSUE)
    await forge.pins.list(olga, { repositoryId: 2, kind: 'issue' })
    await forge.pins.positions(olga, [ISSUE])
    await forge.blocks.block(olga, { organizationId: 4, account: { kind: 'user', id: 5 } })
    await forge.blocks.list(olga, { organizationId: 4, page: 1, limit: LIMIT })
    await forge.events.read({ after: 's0', limit: LIMIT })
    await forge.events.list({ organizationId: 4 })
    await forge.pins.unpin(olga, ISSUE)

    // Until tables are analyzed, PostgreSQL expects as many rows as their pages can hold.
    const written = 'update forgelet_outbox set floor = floor; update forgelet_events set data = data'
    await pool.query(`do $$ begin for n in 1..2000 loop ${written}; end loop; end $$`)
    const client = await pool.connect()
    await client.query('set plan_cache_mode = force_generic_plan') // the values do not count
    const { rows } = await client.query<{ name: string; statement: string; types: readonly string[] }>(
      'select name, statement, parameter_types::text[] as types from pg_prepared_statements',
    )
    const costs: Record<string, number> = {}
    for (const { name, statement, types } of rows) {
      const nulls = types.length === 0 ? '' : `(${types.map(() => 'null').join()})`
      const { rows: plans } = await client.query(`explain (format json) execute "${name}"${nulls}`)
      costs[statement] = plans[0]['QUERY PLAN'][0].Plan['Total Cost']
    }
    client.release()
    const { rows: settings } = await pool.query('show jit_above_cost')

    expect(Object.keys(costs).length).toBeGreaterThan(12)
    expect(Object.entries(costs).filter(([, cost]) => cost >= settings[0].jit_above_cost)).toEqual([])
  })
})
