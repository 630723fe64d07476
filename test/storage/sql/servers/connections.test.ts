import { expect, onTestFinished, test } from 'vitest'
import { Connections } from '../../../../src/storage/sql/servers/connections.ts'
import { Deadline } from '../../../../src/storage/sql/servers/deadline.ts'
import { listenerWarnings } from '../../listener-warnings.ts'

test('a server that refuses a process without connections is asked once more, and every call is refused', async () => {
  let asked = 0
  const connect = (): Promise<never> => {
    asked += 1
    return Promise.reject(Object.assign(new Error('too many connections for role "forge"'), { code: '53300' }))
  }
  const connections = new Connections({ connect, close: async () => undefined })
  const calls = Array.from({ length: 20 }, () => connections.with(new Deadline(), () => undefined))

  for (const call of await Promise.allSettled(calls)) {
    expect(call).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_UNAVAILABLE' } })
  }
  expect(asked).toBe(21)
})

test('a call that is repeated many times leaves nothing on its deadline', async () => {
  const warnings = listenerWarnings(onTestFinished)
  const connection = {
    identity: {},
    run: async () => [],
    transaction: {},
    commit: async () => true,
    release: () => undefined,
  }
  const connections = new Connections({ connect: async () => connection, close: async () => undefined })
  const deadline = new Deadline()
  for (let attempt = 0; attempt < 20; attempt += 1) await connections.with(deadline, () => undefined)

  expect(await warnings()).toEqual([])
})
