import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { hearGivenClients } from '../../../../src/storage/sql/postgres/error-listeners.ts'

test('a client that is lost in the very moment it is given ends no process, and is left alone a turn later', async () => {
  const [pool, client] = [new EventEmitter(), new EventEmitter()]
  const stop = hearGivenClients(pool)
  pool.emit('acquire', client)
  client.emit('error', new Error('terminating connection due to administrator command')) // unheard, it would be thrown

  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(client.listenerCount('error')).toBe(0)
  stop()
  expect(pool.listenerCount('acquire')).toBe(0)
})
