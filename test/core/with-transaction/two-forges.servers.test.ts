import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { Actor, Forge } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import type { HostTransaction } from '../../../src/testing/testing.ts'
import { mariadbKind } from '../../storage/databases/mariadb.ts'
import { postgresKind } from '../../storage/databases/postgres.ts'
import { onServer, SERVERS } from '../../storage/databases/servers.ts'
import type { StorageKind } from '../../storage/databases/storage-kind.ts'

const OWNER: Actor = { id: 1 }
const BOARD = { repositoryId: 10, kind: 'issue' } as const

onServer(SERVERS.postgres, (url) => twoForges(postgresKind(url)))
onServer(SERVERS.mariadb, (url) => twoForges(mariadbKind(url)))

/** Two forges in one database, each with a prefix of its own, and one transaction of the host. */
function twoForges<Tx>(kind: StorageKind<Tx>): void {
  const { begin, beside } = kind.host
  if (begin === undefined || beside === undefined) throw new TypeError(`${kind.name} has no place for two`)

  let storages: readonly ForgeStorage<Tx>[]
  let forges: readonly Forge<Actor, Tx>[]
  let host: HostTransaction<Tx>

  beforeEach(async () => {
    const storage = await kind.open()
    storages = [storage, await beside(storage)]
    forges = storages.map((one) => aForge(one))
    host = await begin(storage)
  })
  afterEach(async () => {
    await host.rollback()
    await host.release?.()
    for (const storage of storages) await storage.close()
  })
  afterAll(() => kind.end())

  const boards = () =>
    Promise.all(forges.map(async ({ pins }) => (await pins.list(OWNER, BOARD)).map((pin) => pin.issueId)))

  test('both write in the transaction, each for itself and with a limit of its own', async () => {
    for (const [index, forge] of forges.entries()) {
      const ids = [1, 2, 3].map((id) => 10 * index + id)
      await forge.withTransaction(host.transaction, async ({ pins }) => {
        for (const id of ids) await pins.pin(OWNER, { ...BOARD, id })
      })
    }
    const refused = forges[0]?.withTransaction(host.transaction, ({ pins }) => pins.pin(OWNER, { ...BOARD, id: 4 }))
    await expect(refused).rejects.toMatchObject({ code: 'PIN_LIMIT_REACHED' })
    await host.commit()

    expect(await boards()).toEqual([
      ['1', '2', '3'],
      ['11', '12', '13'],
    ])
  })

  test('what is deleted in one lives on in the other', async () => {
    for (const forge of forges) await forge.pins.pin(OWNER, { ...BOARD, id: 1 })
    await forges[0]?.withTransaction(host.transaction, ({ lifecycle }) => lifecycle.issueDeleted({ ...BOARD, id: 1 }))
    await host.commit()

    expect(await boards()).toEqual([[], ['1']])
  })
}

function aForge<Tx>(storage: ForgeStorage<Tx>): Forge<Actor, Tx> {
  return createForge<Actor, Tx>({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
}
