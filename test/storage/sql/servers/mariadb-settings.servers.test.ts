import type { Connection } from 'mysql2/promise'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { SqlStorageOptions } from '../../../../src/storage/mariadb.ts'
import { mariadbStorage } from '../../../../src/storage/mariadb.ts'
import type { ForgeStorage } from '../../../../src/storage/storage.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import type { OwnServer } from '../../../durability/own-server.ts'
import { OWN_MARIADB, onOwnServer } from '../../../durability/own-server.ts'
import { expectAllKept } from '../../all-kept.ts'

const OTHER_BOARD = { ...BOARD, repositoryId: '11' }
const RUN_AGAIN = { code: 'STORAGE_BUSY', details: { retry: 'host-transaction' } }

// What a server is started with, and cannot change later.
onOwnServer(OWN_MARIADB, (start) => {
  let server: OwnServer

  beforeAll(async () => {
    server = await start()
    const storage = mariadbStorage(server.url)
    await storage.migrate()
    await pin(storage, BOARD, '1')
    await storage.close()
  })
  afterAll(() => server?.drop())

  test('a server whose sessions do not commit by themselves changes nothing, from the first table on', async () => {
    await onServerWith('autocommit=0')
    const options = { prefix: 'kept_' }
    const storage = storageAt(server.url, options)
    await storage.migrate()
    const other = storageAt(server.url, options)
    expect((await other.schemaStatus()).state).toBe('current')
    await expectAllKept(storage)
    for (const id of ['1', '2']) await pin(storage, OTHER_BOARD, id)

    expect(await issuesOn(other, OTHER_BOARD)).toEqual(['1', '2'])
    await pin(storage, OTHER_BOARD, '3')
    expect(await issuesOn(other, OTHER_BOARD)).toEqual(['1', '2', '3'])
  })

  test('a lock that was waited for too long ends the host’s whole transaction, where the server has it so', async () => {
    const storage = await onServerWith('innodb-rollback-on-timeout', 'innodb-lock-wait-timeout=1')
    const [other, transaction] = [await connected(), await connected()]
    await other.query('begin')
    await other.query("select * from forgelet_heads where scope = 'issueBoard' and `key` = '10' for update")
    await transaction.query('begin')
    await pin(storage, OTHER_BOARD, '3', { transaction })

    await expect(pin(storage, BOARD, '4', { transaction })).rejects.toMatchObject(RUN_AGAIN)
    await expect(pin(storage, OTHER_BOARD, '5', { transaction })).rejects.toThrow(TypeError)
    await transaction.query('commit')
    expect(await issuesOn(storage, OTHER_BOARD)).toEqual([])
  })

  test('a server with few connections is waited for, or too busy, and works again', async () => {
    const storage = await onServerWith('max-connections=3')
    const held = [await connected(), await connected()]
    const outcomes = await Promise.allSettled(['11', '12', '13', '14'].map((id) => pin(storage, OTHER_BOARD, id)))
    for (const connection of held) connection.destroy()

    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    }
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
    await expect.poll(() => pin(storage, OTHER_BOARD, '15').catch(() => 0)).toBeGreaterThan(0)
  })

  async function onServerWith(...settings: readonly string[]): Promise<ForgeStorage<Connection>> {
    await server.kill()
    await server.start(settings)
    return storageAt(server.url)
  }

  function storageAt(url: string, options: SqlStorageOptions = {}): ForgeStorage<Connection> {
    const storage = mariadbStorage<Connection>(url, options)
    onTestFinished(() => storage.close())
    return storage
  }

  async function connected(): Promise<Connection> {
    const connection = await createConnection(server.url)
    connection.on('error', () => undefined)
    onTestFinished(() => connection.destroy())
    return connection
  }
})
