import { afterAll, beforeAll, expect, test } from 'vitest'
import { issuesOn } from '../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/cases/sample-changes.ts'
import { FIVE_SECONDS_AND_ROOM } from '../storage/promised-times.ts'
import type { ServerKind } from '../storage/sql/server/server-databases.ts'
import { MARIADB, POSTGRES } from '../storage/sql/server/server-databases.ts'
import { storageUses } from '../storage/sql/server/storage-uses.ts'
import { onOwnServer, ownMariadb, ownPostgres } from './own-servers/on-own-server.ts'
import type { OwnServer } from './own-servers/own-server.ts'

onOwnServer('PostgreSQL', ownPostgres(), (start) => onFrozenServer(POSTGRES, start))
onOwnServer('MariaDB', ownMariadb(), (start) => onFrozenServer(MARIADB, start))

/** A call that waits for another connection of a Kysely's pool cannot know why none comes. */
const NOTHING_DONE = [
  expect.objectContaining({ code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }),
  expect.objectContaining({ code: 'STORAGE_BUSY', details: { retry: 'call' } }),
]

function onFrozenServer(kind: ServerKind, start: () => Promise<OwnServer>): void {
  let server: OwnServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(async () => {
    await server?.drop()
  })

  test('calls on a frozen server are answered in five seconds, storages close, and the next calls work', async () => {
    const opened = storageUses(kind).map((use) => use.open(server.url, 2))
    const storages = opened.map(({ storage }) => storage)
    const closing = kind.storage(server.url)
    await closing.migrate()
    for (const storage of storages) await pin(storage, BOARD, '1')

    server.freeze()
    const from = performance.now()
    const closed = closing.close()
    const calls = storages.flatMap((storage) => [pin(storage, BOARD, '2'), issuesOn(storage, BOARD)])
    const answers = await Promise.all(calls.map((call: Promise<unknown>) => call.catch((error: unknown) => error)))
    for (const answer of answers) expect(NOTHING_DONE).toContainEqual(answer)
    await closed
    expect(performance.now() - from).toBeLessThan(FIVE_SECONDS_AND_ROOM)

    server.thaw()
    await Promise.all(storages.map((storage, n) => pin(storage, BOARD, `3${n}`)))
    for (const storage of storages) expect(await issuesOn(storage, BOARD)).toHaveLength(1 + storages.length)
    for (const { storage, end } of opened) {
      await storage.close()
      end()
    }
  })
}
