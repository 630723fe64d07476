import { afterAll, expect, test } from 'vitest'
import { isForgeError } from '../../../../src/index.ts'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import type { HostTransaction } from '../../../../src/testing/testing.ts'
import { kyselyMariadbKind } from '../../databases/kysely-mariadb.ts'
import { kyselyPostgresKind } from '../../databases/kysely-postgres.ts'
import { onServer, SERVERS } from '../../databases/servers.ts'
import type { StorageKind } from '../../databases/storage-kind.ts'

onServer(SERVERS.postgres, (url) => {
  suite(kyselyPostgresKind(url))
  deadlockSuite(kyselyPostgresKind(url))
})
onServer(SERVERS.mariadb, (url) => {
  suite(kyselyMariadbKind(url))
  deadlockSuite(kyselyMariadbKind(url, 'read committed'))
})

function suite<Tx>(kind: StorageKind<Tx>): void {
  const { begin, beginSnapshot } = kind.host
  afterAll(kind.end)

  test.each([
    ['as they are begun', begin],
    ['that read from a snapshot', beginSnapshot],
  ] as const)(
    'transactions %s that pin at once never pass the limit, and each ends with an answer',
    async (_, begin) => {
      const storage = await kind.open()
      const writers = Array.from({ length: 15 }, (_unused, n) => pinnedBy(storage, begin, String(n)))
      const answers = await Promise.all(writers)

      expect(answers.filter((answer) => answer === 'pinned')).toHaveLength(3)
      expect(answers.filter((answer) => answer === 'PIN_LIMIT_REACHED')).toHaveLength(12)
      expect(await issuesOn(storage, BOARD)).toHaveLength(3)
      expect((await storage.events.read({ after: undefined, limit: 99 })).events).toHaveLength(3)
      await storage.close()
    },
  )
}

/** Pins in a transaction of the host, which runs it again when asked to. */
async function pinnedBy<Tx>(
  storage: ForgeStorage<Tx>,
  begin: StorageKind<Tx>['host']['begin'],
  issueId: string,
): Promise<string> {
  for (;;) {
    const host = await begin?.(storage)
    if (host === undefined) throw new TypeError('there are no transactions')
    const answer = await tried(storage, host, issueId)
    if (answer !== 'STORAGE_BUSY') return answer
  }
}

async function tried<Tx>(storage: ForgeStorage<Tx>, host: HostTransaction<Tx>, issueId: string): Promise<string> {
  try {
    await pin(storage, BOARD, issueId, { transaction: host.transaction, limit: 3 })
    await host.commit()
    return 'pinned'
  } catch (error) {
    await host.rollback()
    return isForgeError(error) ? error.code : String(error)
  }
}

function deadlockSuite<Tx>(kind: StorageKind<Tx>): void {
  const { begin } = kind.host
  if (begin === undefined) throw new TypeError(`${kind.name} has no transactions`)
  afterAll(kind.end)

  test('a deadlock gives one transaction up, for its host to run again, and lets the other go on', async () => {
    const storage = await kind.open()
    const hosts = [await begin(storage), await begin(storage)]
    const boards = ['11', '12'].map((repositoryId) => ({ ...BOARD, repositoryId }))
    for (const [n, { transaction }] of hosts.entries()) {
      await pin(storage, boards[n] ?? BOARD, `1${n}`, { transaction })
    }
    const ends = await Promise.all(
      hosts.map(async (host, n) => {
        const [end] = await Promise.allSettled([
          pin(storage, boards[1 - n] ?? BOARD, `2${n}`, { transaction: host.transaction }),
        ])
        await (end.status === 'fulfilled' ? host.commit() : host.rollback())
        return end
      }),
    )

    expect(ends).toContainEqual({ status: 'fulfilled', value: 1 })
    expect(ends).toContainEqual({
      status: 'rejected',
      reason: expect.objectContaining({ code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }),
    })
    for (const board of boards) expect(await issuesOn(storage, board)).toHaveLength(1)
    await storage.close()
  })
}
