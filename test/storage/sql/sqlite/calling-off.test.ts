import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { newFile, openHandle, openStorage } from '../database-files.ts'

const REASON = new Error('the caller has aborted')

describe('a change that is called off', () => {
  test('while it waits for its batch ends with the reason, and its neighbours are written', async () => {
    const storage = await openStorage(newFile())
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0) // the second change does not close the batch
    onTestFinished(() => clock.mockRestore())
    const controller = new AbortController()
    const changes = [pin(storage, BOARD, '1', { signal: controller.signal }), pin(storage, BOARD, '2')]
    controller.abort(REASON)

    expect(await Promise.allSettled(changes)).toMatchObject([{ reason: REASON }, { value: 1 }])
    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
  })

  test('by a change before it in the batch is not written', async () => {
    const storage = await openStorage(newFile())
    const controller = new AbortController()
    const changes = [
      pin(storage, BOARD, '1', { beforeCommit: () => controller.abort(REASON) }),
      pin(storage, BOARD, '2', { signal: controller.signal }),
    ]

    expect(await Promise.allSettled(changes)).toMatchObject([{ value: 1 }, { reason: REASON }])
    expect(await issuesOn(storage, BOARD)).toEqual(['1'])
  })

  test('while the file is busy ends with the reason, though the file stays busy', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    const other = openHandle(file)
    other.exec('begin immediate')
    const controller = new AbortController()
    const called = pin(storage, BOARD, '1', { signal: controller.signal })
    const patient = pin(storage, BOARD, '2')
    setTimeout(() => controller.abort(REASON), 30)

    await expect(called).rejects.toBe(REASON)
    other.exec('rollback')
    expect(await patient).toBe(1)
  })
})
