import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ForgeError } from '../../../../src/index.ts'
import type { SqliteHandle } from '../../../../src/storage/sqlite.ts'
import { block } from '../../../../src/testing/storage-contract/samples/blocks.ts'
import { outbox } from '../../../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
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
    await Promise.all(Array.from({ length: 20 }, (_, n) => block(storage, '1', String(n))))

    expect(statements.filter((sql) => /^begin|^commit/.test(sql))).toEqual(['begin immediate', 'commit'])
    expect(statements.filter((sql) => sql.startsWith('savepoint'))).toHaveLength(20)
  })

  test('are committed in a test that sets the time by fake timers', async () => {
    const storage = await openStorage(newFile())
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    await pin(storage, BOARD, '1')

    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
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

    expect(sizes).toEqual([256, 44, 0])
  })

  test('are committed with those of the turns behind it, as long as each turn brings another', async () => {
    const { handle, statements } = watchedHandle(newFile())
    const storage = await openStorage(handle)
    statements.length = 0
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0) // on a slow machine too
    onTestFinished(() => clock.mockRestore())
    const changes: Promise<unknown>[] = []
    for (let n = 0; n < 20; n += 1) {
      changes.push(block(storage, '1', String(n)))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(changes)

    expect(statements.filter((sql) => /^begin|^commit/.test(sql))).toEqual(['begin immediate', 'commit'])
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
})

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

test('close lets the open batch finish', async () => {
  const file = newFile()
  const storage = await openStorage(file)
  const pending = pin(storage, BOARD, '1')
  await storage.close()

  expect(await pending).toBe(1)
  expect(await issuesOn(await openStorage(file), BOARD)).toEqual(['1'])
})
