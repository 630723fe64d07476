import type { PoolConnection } from 'mysql2/promise'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Forge, TransactionServices } from '../../src/index.ts'
import { ForgeError } from '../../src/index.ts'
import { inTransaction as inMariadb, mariadbStorage } from '../../src/storage/mariadb.ts'
import type { TransactionOptions } from '../../src/storage/postgres.ts'
import { inTransaction as inPostgres, postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { Person } from '../core/a-forge.ts'
import { olga } from '../core/a-forge.ts'
import { meeting } from '../deferred.ts'
import { onMariadb, onPostgres } from './driver-hosts.ts'
import { forgeOn } from './forge-on.ts'
import { FIVE_SECONDS_AND_ROOM } from './promised-times.ts'
import { cutAtCommit, silentProxy } from './proxies.ts'

type Services = TransactionServices<Person>

/** Work in a transaction of the host: with the services, and what runs a statement of the host. */
type Work<T> = (services: Services, run: (sql: string) => Promise<unknown>) => Promise<T>

/** A host with a pool, on one server. */
interface PoolHost {
  readonly forge: Forge<Person, never>
  inTransaction<T>(work: Work<T>, options?: TransactionOptions): Promise<T>
  run(sql: string): Promise<readonly Record<string, unknown>[]>
  /** The number of connections that the pool has and nobody uses. */
  idle(): number
}

/** Opens a host on a way to the server, which is that of the database if none is given. */
type OpenHost = (way?: (url: string) => Promise<string>) => Promise<PoolHost>

const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }
const board = (repositoryId: number) => ({ repositoryId, kind: 'issue' }) as const
const pin = ({ pins }: Services, id: number, repositoryId = 10) => pins.pin(olga, { id, ...board(repositoryId) })

/** What a pool has that no library has. What both have is in in-library-suite.ts. */
function inTransactions(commit: string, openHost: OpenHost): void {
  test('a transaction that a deadlock gives up at a statement of the host is run again, and both are committed', async () => {
    const { run, inTransaction } = await openHost()
    await run('insert into host_issue values (1), (2)')
    const both = meeting(2)
    let begun = 0
    const writeTo = (first: number, second: number) =>
      inTransaction(async (services, runIn) => {
        begun += 1
        await runIn(`update host_issue set id = id where id = ${first}`)
        await both()
        await runIn(`update host_issue set id = id where id = ${second}`)
        await pin(services, 10 * first, 20 + first)
      })
    await Promise.all([writeTo(1, 2), writeTo(2, 1)])

    expect([begun, await run('select issue_id from forgelet_pins where repository_id > 20')]).toMatchObject([
      3,
      [{}, {}],
    ])
  })

  test('a transaction that is given up again and again is begun ten times', async () => {
    const { inTransaction, idle } = await openHost()
    let begun = 0
    const givenUp = inTransaction(async () => {
      begun += 1
      throw new ForgeError('STORAGE_BUSY', 'given up', { retry: 'host-transaction' })
    })

    await expect(givenUp).rejects.toMatchObject(RUN_AGAIN)
    expect([begun, idle()]).toEqual([10, 1])
  })

  test('the level of the transaction is the one that is asked for', async () => {
    const { forge, inTransaction, idle } = await openHost()
    const before: unknown[] = []
    const seen = async (isolation?: 'repeatable read') =>
      inTransaction(
        async (services) => {
          before.push((await services.pins.list(olga, board(10))).length)
          await forge.pins.pin(olga, { id: before.length, ...board(10) })
          return (await services.pins.list(olga, board(10))).length
        },
        { isolation },
      )

    expect([await seen(), await seen('repeatable read'), before, idle()]).toEqual([1, 1, [0, 1], 1])
    await expect(inTransaction(async () => 1, { isolation: 'none' as 'serializable' })).rejects.toThrow(
      'inTransaction needs isolation',
    )
  })

  test('a COMMIT without an answer has an unknown outcome, and the connection is gone', async () => {
    const { inTransaction, idle } = await openHost(async (url) => {
      const proxy = await cutAtCommit(url, 'after', commit)
      onTestFinished(proxy.end)
      return proxy.url
    })

    await expect(inTransaction((services) => pin(services, 1))).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      details: { outcome: 'unknown' },
    })
    expect(idle()).toBe(0)
  })

  test('a server that falls silent is given up, and the connection is gone', async () => {
    let silence = (): void => undefined
    const { inTransaction, idle } = await openHost(async (url) => {
      const proxy = await silentProxy(url)
      onTestFinished(proxy.end)
      silence = proxy.silence
      return proxy.url
    })
    const start = performance.now()
    const silenced = inTransaction(async (services) => {
      await pin(services, 1)
      silence()
      await pin(services, 2)
    })

    await expect(silenced).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect(performance.now() - start).toBeLessThan(2 * FIVE_SECONDS_AND_ROOM) // of the call, and of ROLLBACK
    expect(idle()).toBe(0)
  })
}

onPostgres((open) => {
  const openHost: OpenHost = async (way = async (url) => url) => {
    const database = await open()
    await database.run('create table host_issue (id int primary key)')
    const pool = database.pool({ connectionString: await way(database.url) })
    const forge = opened(postgresStorage<pg.PoolClient>(database.url))
    return {
      forge,
      inTransaction: (work, options) =>
        inPostgres(forge, pool, (services, client) => work(services, (sql) => client.query(sql)), options),
      run: (sql) => database.run(sql),
      idle: () => pool.idleCount,
    }
  }
  inTransactions('commit\0', openHost)

  test('a failed statement whose error the work caught is reported, because the server has rolled back', async () => {
    const { forge, inTransaction } = await openHost()
    const careless = inTransaction(async (services, runIn) => {
      await pin(services, 1)
      await runIn('select 1 from host_nowhere').catch(() => undefined)
    })

    await expect(careless).rejects.toThrow('a statement of the transaction failed')
    expect(await pinned(forge)).toEqual([])
  })

  test('a transaction that the server refuses at COMMIT is run again', async () => {
    const { run, inTransaction } = await openHost()
    const both = meeting(2)
    let begun = 0
    const writeUnread = (id: number) =>
      inTransaction(
        async (_services, runIn) => {
          begun += 1
          await runIn('select id from host_issue')
          await runIn(`insert into host_issue values (${id})`)
          await both() // so that only COMMIT can refuse one of them
        },
        { isolation: 'serializable' },
      )
    await Promise.all([writeUnread(1), writeUnread(2)])

    expect([begun, await run('select id from host_issue order by id')]).toEqual([3, [{ id: 1 }, { id: 2 }]])
  })

  test('a lost connection does not end the process, and is an error of the work', async () => {
    const { inTransaction, run, idle } = await openHost()
    const losing = inTransaction(async (services) => {
      await run(
        'select pg_terminate_backend(pid) from pg_stat_activity ' +
          "where datname = current_database() and state = 'idle in transaction'",
      )
      await pin(services, 1)
    })

    await expect(losing).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect(idle()).toBe(0)
  })
})

onMariadb((open) => {
  inTransactions('\x03commit', async (way = async (url) => url) => {
    const database = await open()
    await database.run('create table host_issue (id int primary key)')
    const pool = database.pool({ uri: await way(database.url) })
    const forge = opened(mariadbStorage<PoolConnection>(database.url))
    return {
      forge,
      inTransaction: (work, options) =>
        inMariadb(forge, pool, (services, connection) => work(services, (sql) => connection.query(sql)), options),
      run: (sql) => database.run(sql),
      idle: () => Reflect.get(pool.pool, '_freeConnections').length,
    }
  })
})

/** A forge on a storage, which is closed when the test ends. */
function opened<Tx>(storage: ForgeStorage<Tx>): Forge<Person, never> {
  onTestFinished(() => storage.close())
  return forgeOn(storage) as unknown as Forge<Person, never> // the tests hand it the transactions of its own host
}

async function pinned(forge: Forge<Person, never>): Promise<readonly string[]> {
  return (await forge.pins.list(olga, board(10))).map(({ issueId }) => issueId)
}
