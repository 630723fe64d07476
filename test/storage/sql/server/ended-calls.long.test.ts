import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { openPostgres } from '../../../../src/storage/sql/server/open-postgres.ts'
import { TransactionQueues } from '../../../../src/storage/sql/server/transaction-queues.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: (options?: { readonly type: 'minor' }) => void = runInNewContext('gc')

const CALLS = 10_000
const BYTES_OF_EACH = 1024
const AT_ONCE = 16

/**
 * Makes calls, and returns how many bytes of them are left when only young objects have been collected. The least of four
 * rounds: an object that is old by chance keeps what it refers to.
 */
async function leftBy(call: (work: () => Promise<number>) => Promise<number>): Promise<number> {
  await makeCalls(call) // what is loaded and compiled stays
  const rounds: number[] = []
  for (let round = 0; round < 4; round += 1) {
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await makeCalls(call)
    for (let collection = 0; collection < 3; collection += 1) collectGarbage({ type: 'minor' })
    rounds.push(process.memoryUsage().heapUsed - before)
  }
  return Math.min(...rounds)
}

async function makeCalls(call: (work: () => Promise<number>) => Promise<number>): Promise<void> {
  let made = 0
  const caller = async (): Promise<void> => {
    while (made < CALLS) {
      made += 1
      if (made % 250 === 0) collectGarbage({ type: 'minor' })
      const own = Array.from({ length: BYTES_OF_EACH / 8 }, () => made)
      await call(async () => own.length)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
}

test('what calls on a server have used is collected while it is young', async () => {
  const { database } = openPostgres('postgres://127.0.0.1/nothing', {})

  expect(await leftBy((work) => database.during(work))).toBeLessThan((CALLS * BYTES_OF_EACH) / 3)
})

test('what changes in one transaction have used is collected while it is young', async () => {
  const queues = new TransactionQueues({ beneath: (transaction: object) => transaction })
  const queue = await queues.with({}, async (own) => own)

  expect(await leftBy((work) => queue.write(work))).toBeLessThan((CALLS * BYTES_OF_EACH) / 3)
})
