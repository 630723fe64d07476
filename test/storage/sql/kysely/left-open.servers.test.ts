import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { kyselyStorage } from '../../../../src/storage/kysely.ts'
import { blocksOf, issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { mariadbKysely } from '../../databases/kysely-mariadb.ts'
import { postgresKysely, received } from '../../databases/kysely-postgres.ts'
import type { HostTables } from '../../databases/kysely-sqlite.ts'
import { onMariadb } from '../mysql/host-database.ts'
import { onPostgres } from '../postgres/host-database.ts'

interface Host {
  readonly dialect: 'postgres' | 'mysql'
  readonly kysely: Kysely<HostTables>
  run(text: string): Promise<readonly Record<string, unknown>[]>
  /** Pins an issue from another process. */
  pinElsewhere(issueId: string): Promise<unknown>
}

// What a host left open on a pooled connection that Kysely hands out again.
onPostgres((open) =>
  suite(async () => {
    const database = await open()
    const kysely = postgresKysely(received(database.pool({ max: 1 })))
    return {
      dialect: 'postgres',
      kysely,
      run: (text) => database.run(text),
      pinElsewhere: (issueId) => pin(database.storage(), BOARD, issueId),
    }
  }),
)

onMariadb((open) => {
  const openHost = async (): Promise<Host> => {
    const database = await open()
    return {
      dialect: 'mysql',
      kysely: mariadbKysely(database.url, { connectionLimit: 1 }),
      run: (text) => database.run(text),
      pinElsewhere: (issueId) => pin(database.storage(), BOARD, issueId),
    }
  }
  suite(openHost)

  test('reads see what others commit after the host sets autocommit = 0', async () => {
    const { storage, kysely, pinElsewhere } = await opened(openHost)
    await issuesOn(storage, BOARD)
    await sql`set autocommit = 0`.execute(kysely)
    await issuesOn(storage, BOARD)
    await pinElsewhere('1')

    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
    const { rows } = await sql<{ open: number }>`select @@in_transaction as open`.execute(kysely)
    expect(rows).toEqual([{ open: 0 }])
  })

  test('a connection on which the host changed the database is refused', async () => {
    const { storage, kysely } = await opened(openHost)
    await pin(storage, BOARD, '1')
    await sql`use information_schema`.execute(kysely)

    await expect(pin(storage, BOARD, '2')).rejects.toThrow(/another database/)
    await expect(issuesOn(storage, BOARD)).rejects.toThrow(TypeError)
  })
})

function suite(open: () => Promise<Host>): void {
  test.each(['read', 'change', 'snapshot'] as const)(
    'a transaction that the host left open is rolled back before a %s, and reported once',
    async (next) => {
      const { storage, kysely, run } = await opened(open)
      await run('create table host_notes (id int)')
      const warnings: string[] = []
      storage.onWarning((message) => warnings.push(message))
      for (const id of [1, 2]) {
        await sql`begin`.execute(kysely)
        await sql`insert into host_notes values (1)`.execute(kysely)
        if (next === 'read') expect(await issuesOn(storage, BOARD)).toEqual([])
        if (next === 'change') expect(await pin(storage, BOARD, String(id))).toBe(id)
        if (next === 'snapshot') expect(await blocksOf(storage, '20')).toEqual([])
      }

      expect(await run('select id from host_notes')).toEqual([])
      expect(warnings).toEqual([expect.stringContaining('left a transaction open')])
    },
  )

  test('a connection on which nothing was left open is not reported', async () => {
    const { storage } = await opened(open)
    const warnings: string[] = []
    storage.onWarning((message) => warnings.push(message))
    await pin(storage, BOARD, '1')
    await blocksOf(storage, '20')

    expect([await issuesOn(storage, BOARD), warnings]).toEqual([['1'], []])
  })
}

async function opened(open: () => Promise<Host>) {
  const host = await open()
  onTestFinished(() => host.kysely.destroy())
  return { ...host, storage: kyselyStorage(host.kysely, { dialect: host.dialect }) }
}
