import type { Connection } from 'mysql2/promise'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { createForge } from '../../src/index.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage, HostTransaction } from '../../src/storage/storage.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import type { Person } from '../core/a-forge.ts'
import { olga } from '../core/a-forge.ts'
import { onMariadb, onPostgres } from './driver-hosts.ts'

/** A library that wraps each error of its driver. */
async function wrapping<T>(work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => Promise.reject(new Error('a statement has failed', { cause })))
}

function overPg(client: pg.Client): HostTransaction {
  return { identity: client, run: async (text, values) => (await wrapping(client.query(text, [...values]))).rows }
}

function overMysql2(connection: Connection): HostTransaction {
  return {
    identity: connection,
    async run(text, values) {
      const [rows] = await wrapping(connection.execute(text, [...values]))
      return Array.isArray(rows) ? rows : []
    },
  }
}

/** What a storage does in a transaction that is begun, committed and rolled back by other means. */
function inAnyLibrary(begun: () => Promise<Begun>): void {
  test('a change in a transaction of any library is kept by its COMMIT, and gone with its ROLLBACK', async () => {
    const { storage, transaction, run } = await begun()
    await pin(storage, BOARD, '1', { transaction })
    const inside = await issuesOn(storage, BOARD, transaction)
    await run('rollback')
    await run('begin')
    await pin(storage, BOARD, '2', { transaction })
    await run('commit')

    expect([inside, await issuesOn(storage, BOARD)]).toEqual([['1'], ['2']])
  })

  test('a refused call leaves the rest of a transaction of any library, and beforeCommit receives that', async () => {
    const { storage, transaction, run } = await begun()
    const received: unknown[] = []
    const forge = createForge<Person, HostTransaction>({
      storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
      limits: { maxPins: { issue: 1 } },
      beforeCommit: (_, open) => void received.push(open),
    })
    const issue = (id: number) => ({ id, repositoryId: 10, kind: 'issue' }) as const
    const { afterCommit } = await forge.withTransaction(transaction, async ({ pins }) => {
      await pins.pin(olga, issue(1))
      await expect(pins.pin(olga, issue(2))).rejects.toMatchObject({ code: 'PIN_LIMIT_REACHED' })
    })
    await run('commit')
    afterCommit()

    expect([await issuesOn(storage, BOARD), received]).toEqual([['1'], [transaction]])
  })

  test('outside of a transaction, a library is refused', async () => {
    const { storage, transaction, run } = await begun()
    await run('commit')

    await expect(pin(storage, BOARD, '1', { transaction })).rejects.toThrow(/is not inside a transaction/)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('a lock that a library waited for too long is busy, for its host to run again', async () => {
    const { storage, transaction, other } = await begun()
    await pin(storage, BOARD, '1', { transaction: other })

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'host-transaction' },
    })
  })
}

interface Begun {
  readonly storage: ForgeStorage<HostTransaction>
  readonly transaction: HostTransaction
  /** Another open transaction. */
  readonly other: HostTransaction
  run(text: string): Promise<unknown>
}

onPostgres((open) => {
  inAnyLibrary(async () => {
    const database = await open()
    const [client, other] = [await database.begun(), await database.begun()]
    await client.query("set lock_timeout = '500ms'")
    const storage = postgresStorage<HostTransaction>(database.pool())
    return { storage, transaction: overPg(client), other: overPg(other), run: (text) => client.query(text) }
  })
})

onMariadb((open) => {
  inAnyLibrary(async () => {
    const database = await open()
    const [client, other] = [await database.begun('innodb_lock_wait_timeout = 1'), await database.begun()]
    const storage = mariadbStorage<HostTransaction>(database.pool())
    return { storage, transaction: overMysql2(client), other: overMysql2(other), run: (text) => client.query(text) }
  })
})
