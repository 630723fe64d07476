import type { SQL } from 'drizzle-orm'
import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnMysql2 } from 'drizzle-orm/mysql2'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import type { PoolConnection } from 'mysql2/promise'
import type { PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createForge } from '../../src/index.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage, HostTransaction } from '../../src/storage/storage.ts'
import type { Person } from '../core/a-forge.ts'
import { olga } from '../core/a-forge.ts'
import type { Rows, ServerKind } from '../databases.ts'
import { MARIADB, newDatabase, onServer, POSTGRES } from '../databases.ts'

/** What the host calls of its library. */
interface Library {
  execute(query: SQL): PromiseLike<unknown>
}

type Tx = HostTransaction<Library>

function lends(kind: ServerKind, openStorage: (url: string) => ForgeStorage<Tx>): void {
  const opened = async (work: (transaction: Tx) => PromiseLike<unknown>) => {
    const database = await newDatabase(kind)
    await database.host.run('create table host_issue (id integer primary key)')
    const storage = openStorage(database.url)
    onTestFinished(() => storage.close())
    await storage.migrate()
    const forge = createForge<Person, Tx, 'pins'>({
      services: ['pins'],
      storage,
      policy: { authorize: () => ({ allow: true }) },
      beforeCommit: async (_events, transaction) => void (await work(transaction)),
    })
    const pin = (id: number) => forge.pins.pin(olga, { id, repositoryId: 10, kind: 'issue' })
    const pinned = async () => (await forge.pins.list('system', { repositoryId: 10, kind: 'issue' })).length
    const issues = (): Promise<Rows> => database.host.run('select id from host_issue')
    return { forge, storage, pin, pinned, issues }
  }

  test('what the library writes in beforeCommit is committed with a change outside of withTransaction', async () => {
    const { pin, pinned, issues } = await opened(({ identity }) =>
      identity.execute(sql`insert into host_issue values (1)`),
    )
    await pin(1)

    expect([await pinned(), await issues()]).toEqual([1, [{ id: 1 }]])
    await expect(pin(2)).rejects.toThrow() // the same row again
    expect([await pinned(), await issues()]).toEqual([1, [{ id: 1 }]])
  })

  test('it runs statements itself, and returns rows', async () => {
    const seen: unknown[] = []
    const { pin } = await opened(async ({ run }) => {
      seen.push(await run('insert into host_issue values (7)', []), await run('select 1 as one', []))
    })
    await pin(1)

    expect(seen).toEqual([[], [expect.objectContaining({})]])
  })

  test('a read of the forge on it sees the change, and a change is a TypeError', async () => {
    const seen: unknown[] = []
    const { pin, pinned, storage } = await opened(async (transaction) => {
      seen.push(await storage.pinBoards.load({ repositoryId: '10', kind: 'issue' }, transaction))
      const change = { decide: () => ({ state: [], events: [], result: 1 }), by: 'system', transaction }
      await storage.pinBoards.update({ repositoryId: '10', kind: 'issue' }, change as never)
    })

    await expect(pin(1)).rejects.toThrow(TypeError)
    expect([seen, await pinned()]).toMatchObject([[[{ issueId: '1' }]], 0])
  })
}

onServer(POSTGRES.server, () =>
  lends(POSTGRES, (url) => postgresStorage<Tx>(url, { transaction: (client: PoolClient) => drizzleOnPg(client) })),
)
onServer(MARIADB.server, () =>
  lends(MARIADB, (url) => mariadbStorage<Tx>(url, { transaction: (one: PoolConnection) => drizzleOnMysql2(one) })),
)

test('it must be a function', () => {
  expect(() => postgresStorage('postgres://127.0.0.1/forge', { transaction: 1 as never })).toThrow(TypeError)
  expect(() => mariadbStorage('mysql://127.0.0.1/forge', { transaction: 1 as never })).toThrow(TypeError)
})
