import { expect, test } from 'vitest'
import { BrokenReference, busy, unavailable } from '../../../../src/storage/sql/server/failures.ts'
import { whenFree } from '../../../../src/storage/sql/server/patience.ts'
import { FIVE_SECONDS_AND_ROOM } from '../../promised-times.ts'

/** Fails so often, and answers then. */
function failing(times: number, error: unknown) {
  const waits: number[] = []
  const attempt = async (lockWait: number) => {
    waits.push(lockWait)
    if (waits.length <= times) throw error
    return waits.length
  }
  return { waits, attempt }
}

test.each([busy('call'), new BrokenReference(undefined)])('%s is tried again', async (error) => {
  const { attempt } = failing(3, error)

  expect(await whenFree(attempt)).toBe(4)
})

test.each([unavailable('away'), unavailable('away', undefined, 'unknown'), new TypeError('a fault'), undefined])(
  '%s is not',
  async (error) => {
    const { waits, attempt } = failing(1, error)

    await expect(whenFree(attempt)).rejects.toBe(error)
    expect(waits).toHaveLength(1)
  },
)

test('ten attempts are the most', async () => {
  const { waits, attempt } = failing(99, new BrokenReference(undefined))

  await expect(whenFree(attempt)).rejects.toMatchObject({ code: 'STORAGE_BUSY', details: { retry: 'call' } })
  expect(waits).toHaveLength(10)
})

test('a lock is waited for four seconds, and no longer than five are left', async () => {
  const waits: number[] = []
  const attempt = async (lockWait: number) => {
    waits.push(lockWait)
    await new Promise((resolve) => setTimeout(resolve, Math.min(lockWait, 1500)))
    throw busy('call')
  }
  const start = performance.now()

  await expect(whenFree(attempt)).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
  expect(waits[0]).toBe(4000)
  expect(waits[2]).toBeLessThan(2100)
  expect(performance.now() - start).toBeLessThan(FIVE_SECONDS_AND_ROOM)
})
