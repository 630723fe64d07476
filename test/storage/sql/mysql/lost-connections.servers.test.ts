import { connect, createServer } from 'node:net'
import type { Connection } from 'mysql2/promise'
import { expect, onTestFinished, test } from 'vitest'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import { mysqlStorage } from '../../../../src/storage/mysql.ts'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { AT_ONCE, FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import type { HostDatabase } from './host-database.ts'
import { onMariadb } from './host-database.ts'

const NOTHING_DONE = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }
const BUSY = { code: 'STORAGE_BUSY', details: { retry: 'call' } }
const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } }

onMariadb((open) => {
  test.each(['the host’s pool', 'a pool of our own'])(
    'when idle connections are ended, the next call on %s works',
    async (kind) => {
      const database = await open()
      const pool = kind === 'the host’s pool' ? database.pool() : undefined
      const storage = database.storage(pool)
      await Promise.all(['1', '2', '3'].map((issueId) => pin(storage, BOARD, issueId)))
      await endConnections(database)
      await settled(database)

      expect(await issuesOn(storage, BOARD)).toHaveLength(3)
      await pin(storage, BOARD, '4')
    },
  )

  test('a connection that emits more than one error does not end the process', async () => {
    const database = await open()
    const pool = database.pool()
    const connections: { emit(event: string, error: Error): boolean }[] = []
    pool.on('connection', (connection) => void connections.push(connection))
    await issuesOn(database.storage(pool), BOARD)

    expect(connections).toHaveLength(1)
    for (const connection of connections) {
      for (const message of ['one', 'another']) expect(connection.emit('error', new Error(message))).toBe(true)
    }
  })

  test('when a connection is ended in the middle of a change, nothing is done, and the next call works', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const beforeCommit = () => endConnections(database)

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
    await pin(storage, BOARD, '2')
    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('when a connection is ended under the host’s own statement, the storage is unavailable', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const beforeCommit = async (_: unknown, transaction: Connection) => {
      await endConnections(database)
      await transaction.query('select 1')
    }

    await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toMatchObject(NOTHING_DONE)
  })

  test('what fails elsewhere in the host’s own code is his', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    const error = Object.assign(new Error('his own server is away'), { code: 'ECONNREFUSED' })

    await expect(pin(storage, BOARD, '1', { beforeCommit: () => Promise.reject(error) })).rejects.toBe(error)
  })

  test('when connections are ended again and again, every call ends, and what it answered is so', async () => {
    const database = await open()
    const storage = database.storage(database.pool())
    await pin(storage, BOARD, '0')
    let busy = true
    const ending = (async () => {
      while (busy) await endConnections(database)
    })()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => pin(storage, { ...BOARD, repositoryId: String(100 + n) }, String(n))),
    )
    busy = false
    await ending

    for (const [n, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      else expect(await issuesOn(storage, { ...BOARD, repositoryId: String(100 + n) })).toEqual([String(n)])
    }
  })

  test('when the connection of a joined transaction is ended, nothing is done', async () => {
    const database = await open()
    const storage = database.storage()
    const transaction = await database.connect()
    await transaction.beginTransaction()
    await pin(storage, BOARD, '1', { transaction })
    await endConnections(database)

    await expect(pin(storage, BOARD, '2', { transaction })).rejects.toMatchObject(NOTHING_DONE)
    expect(await issuesOn(database.storage(), BOARD)).toEqual([])
  })

  test.each([
    ['before it came to the server', 'before', []],
    ['after it came to the server', 'after', ['1']],
  ] as const)('when the connection is lost %s, the outcome of a COMMIT is unknown', async (_, moment, issues) => {
    const database = await open()
    const storage = database.storage(database.pool({ uri: await cutAtCommit(database.url, moment) }))

    await expect(pin(storage, BOARD, '1')).rejects.toMatchObject(UNKNOWN)
    expect(await issuesOn(database.storage(), BOARD)).toEqual(issues)
  })

  test('a server that refuses connections is unavailable at once', async () => {
    const storage = storageAt(`mysql://root@127.0.0.1:${await freePort()}/test`)
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject(NOTHING_DONE)
    expect(performance.now() - start).toBeLessThan(AT_ONCE)
  })

  test('an unknown user and an unknown database are reported', async () => {
    const { url } = await open()
    const stranger = new URL(url)
    stranger.username = 'nobody_here'
    stranger.password = 'secret'
    const elsewhere = new URL('/forgelet_not_there', url)

    await expect(issuesOn(storageAt(stranger.href), BOARD)).rejects.toThrow('the server refuses the user')
    await expect(issuesOn(storageAt(elsewhere.href), BOARD)).rejects.toThrow('the server has no database of that name')
  })

  test('a pool that the host has ended is unavailable', async () => {
    const database = await open()
    const pool = database.pool()
    const storage = database.storage(pool)
    await pin(storage, BOARD, '1')
    await pool.end()

    await expect(pin(storage, BOARD, '2')).rejects.toMatchObject(NOTHING_DONE)
  })

  test('a pool whose connections the host keeps is waited for, and no longer than five seconds', async () => {
    const database = await open()
    const pool = database.pool({ connectionLimit: 1 })
    const storage = database.storage(pool)
    const kept = await pool.getConnection()
    const start = performance.now()

    await expect(issuesOn(storage, BOARD)).rejects.toMatchObject(BUSY)
    expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
    kept.release()
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })
})

function storageAt(url: string): ForgeStorage {
  const storage = mysqlStorage(url)
  onTestFinished(() => storage.close())
  return storage as ForgeStorage<unknown>
}

/** Ends every connection to the database but the one that does it. */
async function endConnections(database: HostDatabase): Promise<void> {
  const found = await database.run(
    'select id from information_schema.processlist where db = ? and id <> connection_id()',
    [database.name],
  )
  await Promise.allSettled(found.map(({ id }) => database.run(`kill ${Number(id)}`)))
}

/** Waits until the ended connections are gone from the server, and told of. */
async function settled(database: HostDatabase): Promise<void> {
  for (;;) {
    const left = await database.run('select id from information_schema.processlist where db = ?', [database.name])
    if (left.length <= 1) break
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
}

/** A way to the server that is cut when a COMMIT is on it. */
async function cutAtCommit(url: string, moment: 'before' | 'after'): Promise<string> {
  const { hostname, port } = new URL(url)
  const server = createServer((client) => {
    const upstream = connect(Number(port || 3306), hostname)
    const cut = (): void => void [client, upstream].map((socket) => socket.destroy())
    client.on('data', (data) => {
      const commits = data.includes('commit and no chain')
      if (!commits) upstream.write(data)
      else if (moment === 'before') cut()
      else upstream.write(data, () => upstream.once('data', cut).off('data', give))
    })
    const give = (data: Buffer): void => void client.write(data)
    upstream.on('data', give)
    for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut)
  })
  onTestFinished(() => void server.close())
  const own = new URL(url)
  own.port = String(await listening(server))
  return own.href
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
