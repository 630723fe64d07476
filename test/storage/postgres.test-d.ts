import type pg from 'pg'
import { expectTypeOf, test } from 'vitest'
import type { PgClient, PgPool } from '../../src/storage/postgres.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'

test('the pools and clients of pg are pools and clients', () => {
  expectTypeOf<pg.Pool>().toExtend<PgPool>()
  expectTypeOf<pg.Client>().toExtend<PgClient>()
  expectTypeOf<pg.PoolClient>().toExtend<PgClient>()
  expectTypeOf<pg.Client>().not.toExtend<PgPool>()
})

test('the client of the storage is the transaction of its host', () => {
  const open = (pool: pg.Pool) => postgresStorage<pg.PoolClient>(pool)
  type Entered = Parameters<ReturnType<typeof open>['checkTransaction']>[0]

  expectTypeOf<Entered>().toEqualTypeOf<pg.PoolClient>()
  // @ts-expect-error: a number is no pool
  postgresStorage(7)
  // @ts-expect-error: a client is no pool
  ;(client: pg.Client) => postgresStorage(client)
})

test('a host that names no type for its transaction gets no client in its ports', () => {
  const open = (pool: pg.Pool) => postgresStorage(pool)
  type Entered = Parameters<ReturnType<typeof open>['checkTransaction']>[0]

  expectTypeOf<Entered>().not.toEqualTypeOf<pg.PoolClient>()
})
