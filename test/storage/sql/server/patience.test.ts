import { expect, test } from 'vitest'
import { CallDeadline } from '../../../../src/storage/sql/server/call-deadline.ts'
import { BrokenReference, busy, unavailable } from '../../../../src/storage/sql/server/failures.ts'
import { retry } from '../../../../src/storage/sql/server/retry.ts'

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
  expect(await retry(new CallDeadline(), failing(3, error))).toBe(4)
})

test.each([unavailable('away'), unavailable('away', undefined, 'unknown'), new TypeError('a fault'), undefined])(
  '%s is not',
  async (error) => {
    const attempt = failing(1, error)

    await expect(retry(new CallDeadline(), attempt)).rejects.toBe(error)
    expect(await attempt()).toBe(2)
  },
)

test('ten attempts are the most', async () => {
  const attempt = failing(99, new BrokenReference(undefined))

  await expect(retry(new CallDeadline(), attempt)).rejects.toMatchObject({
    code: 'STORAGE_BUSY',
    details: { retry: 'call' },
  })
  await expect(retry(new CallDeadline(), failing(9, busy('call')))).resolves.toBe(10)
})

test('there is no other attempt when the call has no time left to wait for locks', async () => {
  const attempt = failing(1, busy('call'))

  await expect(retry(new CallDeadline({ total: 1000 }), attempt)).rejects.toMatchObject({ code: 'STORAGE_BUSY' })
  expect(await attempt()).toBe(2)
})
