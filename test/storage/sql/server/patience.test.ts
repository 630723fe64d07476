import { expect, test } from 'vitest'
import { BrokenReference, busy, unavailable } from '../../../../src/storage/sql/errors.ts'
import { retry } from '../../../../src/storage/sql/retry.ts'
import { CallDeadline } from '../../../../src/storage/sql/server/call-deadline.ts'

/** Fails so often, and answers then. */
function failing(times: number, error: unknown) {
  let count = 0
  return async () => {
    count += 1
    if (count <= times) throw error
    return count
  }
}

test.each([busy('call'), new BrokenReference(undefined)])('%s is tried again', async (error) => {
  expect(await retry(failing(3, error), new CallDeadline().retries)).toBe(4)
})

test.each([unavailable('away'), unavailable('away', undefined, 'unknown'), new TypeError('a fault'), undefined])(
  '%s is not',
  async (error) => {
    const attempt = failing(1, error)

    await expect(retry(attempt, new CallDeadline().retries)).rejects.toBe(error)
    expect(await attempt()).toBe(2)
  },
)

test('ten attempts are the most', async () => {
  const attempt = failing(99, new BrokenReference(undefined))

  await expect(retry(attempt, new CallDeadline().retries)).rejects.toMatchObject({
    code: 'STORAGE_BUSY',
    details: { retry: 'call' },
  })
  await expect(retry(failing(9, busy('call')), new CallDeadline().retries)).resolves.toBe(10)
})

test('a call without time left to wait for locks is not retried', async () => {
  const attempt = failing(1, busy('call'))

  await expect(retry(attempt, new CallDeadline({ total: 1000 }).retries)).rejects.toMatchObject({
    code: 'STORAGE_BUSY',
  })
  expect(await attempt()).toBe(2)
})
