import type { Connection, Pool, PoolConnection } from 'mysql2/promise'
import { expectTypeOf, test } from 'vitest'
import type { HostTransaction, MysqlConnection, MysqlPool } from '../../src/storage/mariadb.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'

test('pools and connections of mysql2/promise are pools and connections', () => {
  expectTypeOf<Pool>().toExtend<MysqlPool>()
  expectTypeOf<Connection>().toExtend<MysqlConnection>()
  expectTypeOf<PoolConnection>().toExtend<MysqlConnection>()
  expectTypeOf<{ query(sql: string): Promise<unknown> }>().not.toExtend<MysqlConnection>()
})

test('the transaction of the host is any that it names, or one of mysql2 or of another library', () => {
  const ofPool = (pool: Pool) => mariadbStorage(pool)
  const named = (pool: Pool) => mariadbStorage<PoolConnection>(pool)
  const ofUrl = (url: string) => mariadbStorage<Connection>(url)

  expectTypeOf<Parameters<ReturnType<typeof ofPool>['checkTransaction']>[0]>().toEqualTypeOf<
    MysqlConnection | HostTransaction
  >()
  expectTypeOf<Parameters<ReturnType<typeof named>['checkTransaction']>[0]>().toEqualTypeOf<PoolConnection>()
  expectTypeOf<Parameters<ReturnType<typeof ofUrl>['checkTransaction']>[0]>().toEqualTypeOf<Connection>()
  // @ts-expect-error: a number is no pool
  mariadbStorage(7)
})
