import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { isForgeError } from '../../src/index.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { define, grant, removeBadge, slugsHeldBy } from '../../src/testing/storage-contract/samples/badges.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import type { OpenDatabase, TestDatabase } from '../databases.ts'
import { onDatabases, SERVER_KINDS } from '../databases.ts'
import { meeting } from '../deferred.ts'
import { onMariadb, onPostgres } from './driver-hosts.ts'
import { FIVE_SECONDS_AND_ROOM } from './promised-times.ts'
import { query } from './server-uses.ts'
import { beforeFirst, watch } from './watched-connections.ts'

const GRANT = /insert into .*user_grants/
const THIRTY = Array.from({ length: 30 }, (_, index) => String(index + 1))

onDatabases(SERVER_KINDS, <Tx>(open: OpenDatabase<Tx>) => {
  test.each(['read committed', 'repeatable read', 'serializable'])(
    'thirty hosts who have read before, at %s, pin as many as may be',
    async (level) => {
      const database = await open()
      const storage = database.storage()
      await Promise.all(THIRTY.map((issueId) => pinAsHost({ database, storage, level, issueId })))

      expect(await issuesOn(storage, BOARD)).toHaveLength(3)
    },
  )

  test('the open transaction of a host at READ COMMITTED keeps no one from pinning on other boards', async () => {
    const database = await open()
    const storage = database.storage()
    const board = (repositoryId: string) => ({ ...BOARD, repositoryId })
    for (const id of ['10', '11', '12']) await pin(storage, board(id), id)
    const { transaction } = await database.begun('read committed')
    await pin(storage, board('11'), '21', { transaction })

    await Promise.all(['10', '12'].map((id) => pin(storage, board(id), `3${id}`)))
    expect(await issuesOn(storage, board('10'))).toEqual(['10', '310'])
  })

  test('changes of different things are made at the first attempt', async () => {
    const database = await open()
    const made = countedAttempts(database)
    const storage = watched(database, made.listen)
    const ids = Array.from({ length: 100 }, (_, index) => String(index + 1))
    const outcomes = await Promise.all([
      ...ids.map((id) => pin(storage, { ...BOARD, repositoryId: id }, id)),
      ...ids.map((id) => block(storage, id, id)),
    ])

    expect([outcomes.length, made.count]).toEqual([200, 200])
  })

  test('the same badges are granted to many at once at the first attempt', async () => {
    const database = await open()
    const made = countedAttempts(database)
    const storage = watched(database, made.listen)
    const slugs = ['a', 'b', 'c', 'd']
    for (const slug of slugs) await define(database.storage(), slug)
    await Promise.all(THIRTY.map((userId, index) => grant(storage, userId, index % 2 ? slugs : slugs.toReversed())))

    for (const userId of THIRTY) expect(await slugsHeldBy(storage, userId)).toHaveLength(4)
    expect(made.count).toBe(30)
  })

  test('users and organizations that go at once do not wait for each other in a circle', async () => {
    const database = await open()
    const made = countedAttempts(database)
    const storage = watched(database, made.listen)
    const organizations = ['41', '42', '43']
    const before = database.storage()
    await Promise.all(THIRTY.flatMap((userId) => organizations.map((id) => block(before, id, userId))))
    await Promise.all([
      ...THIRTY.map((userId) => retire(storage, { thing: 'user', userId })),
      ...organizations.map((organizationId) => retire(storage, { thing: 'organization', organizationId })),
    ])

    expect(made.count).toBe(33)
  })

  test('a deadlock is tried again, and both changes are made', async () => {
    const database = await open()
    await database.run('create table host_rows (id bigint primary key, hits bigint)')
    await database.run('insert into host_rows values (1, 0), (2, 0)')
    const made = countedAttempts(database)
    const storage = watched(database, made.listen)
    const met = meeting(2)
    const pins: Promise<unknown>[] = []
    const hit = (first: number, second: number, other: number) => {
      let isRepeated = false
      return {
        beforeCommit: async (_: unknown, transaction: unknown) => {
          if (isRepeated) await pins[other] // it must not overtake the one that it has made way for
          isRepeated = true
          await query(transaction, `update host_rows set hits = hits + 1 where id = ${first}`)
          await met()
          await query(transaction, `update host_rows set hits = hits + 1 where id = ${second}`)
        },
      }
    }
    pins.push(pin(storage, BOARD, '1', hit(1, 2, 1)))
    pins.push(pin(storage, { ...BOARD, repositoryId: '11' }, '2', hit(2, 1, 0)))
    await Promise.all(pins)

    expect(made.count).toBe(3)
    expect(await database.run('select cast(hits as int) as hits from host_rows')).toEqual([{ hits: 2 }, { hits: 2 }])
  })

  test('a definite abort is tried again so often and no longer', async () => {
    const database = await open()
    const made = countedAttempts(database)
    const storage = watched(database, made.listen)
    const beforeCommit = async (_: unknown, transaction: unknown) => void (await query(transaction, abortOn(database)))

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject({
      code: 'STORAGE_BUSY',
      details: { retry: 'call' },
    })
    expect([made.count, await issuesOn(storage, BOARD)]).toEqual([10, []])
  })

  test('a read of the outbox that a prune overtakes says so: one statement has the oldest cursor and the events', async () => {
    const database = await open()
    const prunes: (() => Promise<void>)[] = []
    const storage = watched(database, async (text) => {
      if (/ from \S*events\b.* order by \S*position\S* limit /.test(text)) await prunes.shift()?.()
    })
    for (const issueId of ['1', '2', '3']) await pin(storage, BOARD, issueId)
    const { cursor } = await storage.events.read({ after: undefined, limit: 1 })
    prunes.push(async () => {
      await database.run('delete from forgelet_events where position = 2')
      await database.run('update forgelet_outbox set floor = 2')
    })

    await expect(storage.events.read({ after: cursor, limit: 10 })).rejects.toMatchObject({ code: 'EVENTS_PRUNED' })
    expect(prunes).toEqual([])
  })
})

onMariadb((open) => {
  test('a table that is locked is waited for no longer than five seconds', async () => {
    const database = await open()
    const storage = database.storage()
    await pin(storage, BOARD, '1')
    const other = await database.connect()
    await other.query('lock tables forgelet_board_pins write')
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
  })
})

// On PostgreSQL the references of a row hold until its transaction ends. On MariaDB the badge is locked before it is granted.
onPostgres((open) => {
  test('a badge that is removed while it is granted is looked up again, and granted to no one', async () => {
    const database = await open()
    const other = database.storage()
    const pool = database.pool()
    pool.on('connect', (client) =>
      watch(
        client,
        beforeFirst(GRANT, () => removeBadge(other, 'owl')),
      ),
    )
    await define(other, 'owl')
    await grant(database.storage(pool), '30', ['owl'])

    expect(await slugsHeldBy(other, '30')).toEqual([])
  })

  test.each([
    ['is looked up again, and granted to no one', 'begin'],
    ['is the host’s to grant again where he has a snapshot', 'begin isolation level repeatable read'],
  ])('a badge that goes while a host’s transaction grants it %s', async (_, begin) => {
    const database = await open()
    const storage = database.storage()
    await define(storage, 'owl')
    const transaction = await database.begun(begin)
    await pin(storage, BOARD, '1', { transaction })
    watch(
      transaction,
      beforeFirst(GRANT, () => removeBadge(storage, 'owl')),
    )
    const granted = grant(storage, '30', ['owl'], { transaction })

    if (begin === 'begin') {
      await granted
      await transaction.query('commit')
      expect([await slugsHeldBy(storage, '30'), await issuesOn(storage, BOARD)]).toEqual([[], ['1']])
    } else {
      const runAgain = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }
      await expect(granted).rejects.toMatchObject(runAgain)
    }
  })
})

interface HostPin<Tx> {
  readonly database: TestDatabase<Tx>
  readonly storage: ForgeStorage<Tx>
  readonly level: string
  readonly issueId: string
}

/** Reads, and pins behind that, in a transaction of the host; again as long as the storage asks for it. */
async function pinAsHost<Tx>({ database, storage, level, issueId }: HostPin<Tx>): Promise<void> {
  const { transaction, run } = await database.connect()
  for (;;) {
    await run(`set ${isPostgres(database) ? 'session characteristics as ' : ''}transaction isolation level ${level}`)
    await run('begin')
    await run('select count(*) from forgelet_board_pins')
    try {
      await pin(storage, BOARD, issueId, { transaction, limit: 3 })
      await run('commit')
      return
    } catch (error) {
      await run('rollback')
      if (isForgeError(error, 'PIN_LIMIT_REACHED')) return
      if (!isForgeError(error, 'STORAGE_BUSY') && !isSerializationFailure(error)) throw error
    }
  }
}

function isPostgres({ url }: { readonly url: string }): boolean {
  return url.startsWith('postgres')
}

/** A statement that fails as one does whose transaction the server has aborted. */
function abortOn(database: { readonly url: string }): string {
  return isPostgres(database)
    ? "do $$ begin raise exception using errcode = '40001'; end $$"
    : "signal sqlstate '40001' set mysql_errno = 1213"
}

/** Counts the attempts at changes: transactions, and changes that are one statement. */
function countedAttempts(database: { readonly url: string }) {
  const attempt = isPostgres(database) ? /^begin|^with .*not possible at once/ : /start transaction/
  const made = {
    count: 0,
    listen(text: string): void {
      if (attempt.test(text)) made.count += 1
    },
  }
  return made
}

/** A storage over a pool of its host, and what receives every statement on the connections, as `watch` does. */
function watched<Tx>(database: TestDatabase<Tx>, listen: (text: string) => unknown): ForgeStorage<Tx> {
  const make = (): ForgeStorage<never> => {
    if (isPostgres(database)) {
      const pool = new pg.Pool({ connectionString: database.url })
      pool.on('error', () => undefined) // the database may go before its last connection has ended
      onTestFinished(() => pool.end())
      pool.on('connect', (client) => watch(client, listen))
      return postgresStorage(pool) as unknown as ForgeStorage<never>
    }
    const pool = createPool({ uri: database.url })
    onTestFinished(() => pool.end())
    pool.on('connection', (connection) => watch(connection, listen))
    return mariadbStorage(pool) as unknown as ForgeStorage<never>
  }
  return database.closing(make()) as unknown as ForgeStorage<Tx> // transactions are those of the same driver
}

/** At SERIALIZABLE the host's own COMMIT may fail on PostgreSQL. */
function isSerializationFailure(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40001'
}
