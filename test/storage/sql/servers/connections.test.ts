import { expect, test } from 'vitest'
import { Connections } from '../../../../src/storage/sql/servers/connections.ts'
import { Deadline, Deadlines } from '../../../../src/storage/sql/servers/deadline.ts'

test('a server that refuses a process without connections is asked once more, and every call is refused', async () => {
  let asked = 0
  const connect = (): Promise<never> => {
    asked += 1
    return Promise.reject(Object.assign(new Error('too many connections for role "forge"'), { code: '53300' }))
  }
  const connections = new Connections({ connect, close: async () => undefined })
  const calls = Array.from({ length: 20 }, () => connections.with(new Deadline(new Deadlines()), () => undefined))

  for (const call of await Promise.allSettled(calls)) {
    expect(call).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_UNAVAILABLE' } })
  }
  expect(asked).toBe(21)
})
