import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ForgeError, isForgeError } from '../../../../src/schema/errors.ts'
import type { ForgeEvent } from '../../../../src/schema/records.ts'
import type { SqliteHandle } from '../../../../src/storage/sql/sqlite/handle.ts'
import { isHandle } from '../../../../src/storage/sql/sqlite/handle.ts'
import { issuesOn, outbox } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { whileWaiting } from '../../../../src/testing/storage-contract/cases/gate.ts'
import { BOARD, block, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'
import { bareHandle } from '../bare-handles.ts'
import { newFile, openHandle, openStorage, watchedHandle } from '../database-files.ts'
import { pinning } from '../pinning.ts'

const REFUSED = new ForgeError('ALREADY_BLOCKED', 'no')

function refuse(): never {
  throw REFUSED
}

describe('the changes of one turn', () => {
  test('are committed together, in a savepoint each', async () => {
    const { handle, statements } = watchedHandle(newFile())
    const storage = await openStorage(handle)
    statements.length = 0
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0) // a turn that takes long is cut
    onTestFinished(() => clock.mockRestore())
    await Promise.all(Array.from({ length: 20 }, (_, n) => block(storage, '1', String(n))))

    expect(statements.filter((sql) => /^begin|^commit/.test(sql))).toEqual(['begin immediate', 'commit'])
    expect(statements.filter((sql) => sql.startsWith('savepoint'))).toHaveLength(20)
  })

  test('are cut into batches of at most 256', async () => {
    const { handle, statements } = watchedHandle(newFile())
    const storage = await openStorage(handle)
    statements.length = 0
    await Promise.all(Array.from({ length: 300 }, (_, n) => block(storage, '1', String(n))))
    const sizes = statements
      .join('\n')
      .split('commit')
      .map((batch) => batch.split('savepoint forgelet\n').length - 1)

    expect(sizes.length).toBeGreaterThan(2)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256)
  })

  test('are committed with those of the turns behind it, as long as each turn brings another', async () => {
    const { handle, statements } = watchedHandle(newFile())
    const storage = await openStorage(handle)
    statements.length = 0
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
    onTestFinished(() => clock.mockRestore())
    const changes: Promise<unknown>[] = []
    for (let n = 0; n < 20; n += 1) {
      changes.push(block(storage, '1', String(n)))
      await turn()
    }
    await Promise.all(changes)

    expect(statements.filter((sql) => /^begin|^commit/.test(sql))).toEqual(['begin immediate', 'commit'])
  })

  test('are committed one turn after the last of them: nothing waits for a timer', async () => {
    const storage = await openStorage(newFile())
    await pin(storage, BOARD, '1')
    let turns = 0
    let isAnswered = false
    const change = pin(storage, BOARD, '2').then(() => {
      isAnswered = true
    })
    while (!isAnswered) {
      await turn()
      turns += 1
    }
    await change

    expect(turns).toBeLessThanOrEqual(3)
  })

  test('are cut where the batch has run for ten milliseconds: the others are committed in the next turn', async () => {
    const { handle, statements } = watchedHandle(newFile())
    const storage = await openStorage(handle)
    statements.length = 0
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => clock.mockRestore())
    const beforeCommit = (): void => {
      now += 1
    }
    await Promise.all(Array.from({ length: 40 }, (_, n) => block(storage, '1', String(n), { beforeCommit })))
    const sizes = statements
      .join('\n')
      .split('commit')
      .map((batch) => batch.split('savepoint forgelet\n').length - 1)

    expect(sizes).toEqual([16, 16, 8, 0])
  })

  test('are answered after the commit, refusals and changes of nothing too', async () => {
    const { handle, statements } = watchedHandle(newFile())
    const storage = await openStorage(handle)
    statements.length = 0
    const committed = (): boolean => statements.includes('commit')
    const changes = [
      pinning('1'),
      pinning('1', { decide: refuse }),
      pinning('1', { decide: (state) => ({ state, events: [], result: 0 }) }),
    ]
    const answers = await Promise.all(
      changes.map((change) => Promise.resolve(storage.pinBoards.update(BOARD, change)).then(committed, committed)),
    )

    expect(answers).toEqual([true, true, true])
  })

  test('are refused one by one: a refusal rolls back only itself', async () => {
    const storage = await openStorage(newFile())
    const outcomes = await Promise.allSettled([
      storage.pinBoards.update(BOARD, pinning('1')),
      storage.pinBoards.update(BOARD, pinning('2', { beforeCommit: refuse })),
      storage.pinBoards.update(BOARD, pinning('3')),
    ])

    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await issuesOn(storage, BOARD)).toEqual(['1', '3'])
    expect((await outbox(storage)).map((event) => event.issueId)).toEqual(['1', '3'])
  })

  test('are all refused when one of them ends the transaction, and none of them is written', async () => {
    const storage = await openStorage(newFile())
    const outcomes = await Promise.allSettled([
      pin(storage, BOARD, '1'),
      storage.pinBoards.update(BOARD, pinning('2', { beforeCommit: rollTransactionBack })),
      pin(storage, BOARD, '3'),
    ])

    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(outcomes[0]).toMatchObject({ reason: { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'unknown' } } })
    expect(await issuesOn(storage, BOARD)).toEqual([])
    expect(await pin(storage, BOARD, '4')).toBe(1)
  })
})

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function rollTransactionBack(_events: unknown, transaction: unknown): void {
  handleOf(transaction).exec('rollback')
}

function watch(events: readonly ForgeEvent[], transaction: unknown): void {
  for (const event of events) handleOf(transaction).prepare('insert into watches values (?)').run(event.issueId)
}

function watchAndRefuse(events: readonly ForgeEvent[], transaction: unknown): never {
  watch(events, transaction)
  throw REFUSED
}

function handleOf(transaction: unknown): SqliteHandle {
  assert(isHandle(transaction))
  return transaction
}

describe('a file that another connection writes', () => {
  test('is waited for, without holding the event loop', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    const other = openHandle(file)
    other.exec('begin immediate')
    const pending = pin(storage, BOARD, '1')
    const first = await Promise.race([pending, new Promise((resolve) => setTimeout(resolve, 50, 'the loop turns'))])
    other.exec('commit')

    expect(first).toBe('the loop turns')
    expect(await pending).toBe(1)
  })

  test('is asked again after pauses, and not in every turn of the event loop', async () => {
    const file = newFile()
    const { handle, statements } = watchedHandle(file)
    const storage = await openStorage(handle)
    const other = openHandle(file)
    other.exec('begin immediate')
    const start = performance.now()
    const pending = pin(storage, BOARD, '1')
    await whileWaiting(pending, 100)
    const attempts = statements.filter((sql) => sql === 'begin immediate').length
    const waited = performance.now() - start
    other.exec('commit')
    await pending

    expect(attempts).toBeGreaterThan(1) // the migration made the first
    expect(attempts).toBeLessThan(waited) // a pause takes a millisecond at least
  })

  test('is waited for by more changes than one batch holds, and all of them are made', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    const other = openHandle(file)
    other.exec('begin immediate')
    const first = block(storage, '1', '1')
    await whileWaiting(first, 50)
    const rest = Array.from({ length: 600 }, (_, n) => block(storage, '1', String(n + 2)))
    other.exec('commit')

    expect(await Promise.all([first, ...rest])).toHaveLength(601)
  })

  test('is STORAGE_BUSY after five seconds, with nothing written', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    const other = openHandle(file)
    other.exec('begin immediate')
    const start = performance.now()
    const outcomes = await Promise.allSettled([pin(storage, BOARD, '1'), pin(storage, BOARD, '2')])
    const waited = performance.now() - start
    other.exec('rollback')

    expect(waited).toBeGreaterThan(4900)
    expect(waited).toBeLessThan(FIVE_SECONDS_AND_ROOM)
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ reason: { code: 'STORAGE_BUSY', details: { retry: 'call' } } })
    }
    expect(await issuesOn(storage, BOARD)).toEqual([])
    expect(await pin(storage, BOARD, '3')).toBe(1)
  })
})

describe('a COMMIT that fails with the transaction still open', () => {
  test('rejects the whole batch, and nothing of it is written', async () => {
    const storage = await openStorage(handleWithFailingCommits('SQLITE_FULL'))
    const outcomes = await Promise.allSettled([pin(storage, BOARD, '1'), pin(storage, BOARD, '2')])

    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ reason: { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } } })
    }
    expect(await issuesOn(storage, BOARD)).toEqual([])
    expect(await pin(storage, BOARD, '3')).toBe(1)
  })

  test('is tried again with the whole batch when the file was busy', async () => {
    const storage = await openStorage(handleWithFailingCommits('SQLITE_BUSY', 'SQLITE_BUSY'))
    const positions = await Promise.all([pin(storage, BOARD, '1'), pin(storage, BOARD, '2')])

    expect(positions).toEqual([1, 2])
    expect(await issuesOn(storage, BOARD)).toEqual(['1', '2'])
    expect(await outbox(storage)).toHaveLength(2)
  })
})

/** A handle whose batches fail to commit with these codes, one after the other; the migration commits. */
function handleWithFailingCommits(...codes: readonly string[]): SqliteHandle {
  const failures = ['', ...codes]
  return bareHandle(({ sql }) => {
    const code = sql === 'commit' ? failures.shift() : undefined
    if (code) throw new Database.SqliteError('not now', code)
  })
}

describe('inside beforeCommit', () => {
  test('a plain change is a TypeError, for its own change is still open', async () => {
    const storage = await openStorage(newFile())
    const outcome = storage.pinBoards.update(
      BOARD,
      pinning('1', { beforeCommit: () => void storage.pinBoards.update(BOARD, pinning('2')) }),
    )

    await expect(outcome).rejects.toThrow(TypeError)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('a change inside its own transaction is the same TypeError', async () => {
    const storage = await openStorage(newFile())
    const attempts = [
      (transaction: unknown) => storage.checkTransaction(transaction),
      (transaction: unknown) => storage.pinBoards.update(BOARD, pinning('2', { transaction })),
    ]
    for (const attempt of attempts) {
      const beforeCommit = (_events: unknown, transaction: unknown): void => void attempt(transaction)
      await expect(pin(storage, BOARD, '1', { beforeCommit })).rejects.toThrow(/its change is still open/)
    }

    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('of withTransactionSync, every change is the same TypeError', async () => {
    const handle = openHandle(newFile())
    const storage = await openStorage(handle)
    handle.exec('begin immediate')
    const attempts = [
      () => storage.checkTransaction(handle),
      () => storage.pinBoards.update(BOARD, pinning('2', { transaction: handle })),
      () => storage.pinBoards.update(BOARD, pinning('2')),
    ]
    for (const attempt of attempts) {
      const change = pinning('1', { transaction: handle, beforeCommit: () => void attempt() })
      expect(() => storage.pinBoards.update(BOARD, change)).toThrow(/its change is still open/)
    }
    handle.exec('commit')

    expect(await issuesOn(storage, BOARD)).toEqual([])
    expect(await pin(storage, BOARD, '3')).toBe(1)
  })

  test('its own transaction can be read, and shows the change', async () => {
    const storage = await openStorage(newFile())
    const boards: unknown[] = []
    const look = (_events: unknown, transaction: unknown): void =>
      void boards.push(storage.pinBoards.load(BOARD, transaction))
    await pin(storage, BOARD, '1', { beforeCommit: look })

    expect(boards).toMatchObject([[{ issueId: '1' }]])
  })

  test('a promise is a TypeError, and the change is rolled back', async () => {
    const storage = await openStorage(newFile())
    const outcome = storage.pinBoards.update(BOARD, pinning('1', { beforeCommit: async () => undefined }))

    await expect(outcome).rejects.toThrow(TypeError)
    expect(await issuesOn(storage, BOARD)).toEqual([])
  })

  test('the host writes on the transaction, and its rows are committed with the change', async () => {
    const file = newFile()
    const handle = openHandle(file)
    handle.exec('create table watches (issue text)')
    const storage = await openStorage(handle)
    await storage.pinBoards.update(BOARD, pinning('1', { beforeCommit: watch }))
    await expect(storage.pinBoards.update(BOARD, pinning('2', { beforeCommit: watchAndRefuse }))).rejects.toBe(REFUSED)

    expect(handle.prepare('select issue from watches').all()).toEqual([{ issue: '1' }])
  })
})

test('close lets the open batch finish', async () => {
  const file = newFile()
  const storage = await openStorage(file)
  const pending = pin(storage, BOARD, '1')
  await storage.close()

  expect(await pending).toBe(1)
  expect(await issuesOn(await openStorage(file), BOARD)).toEqual(['1'])
})

test('a call after close is STORAGE_UNAVAILABLE', async () => {
  const storage = await openStorage(newFile())
  void storage.close()
  const outcome = await pin(storage, BOARD, '1').then(undefined, (error: unknown) => error)

  expect(isForgeError(outcome, 'STORAGE_UNAVAILABLE')).toBe(true)
})
