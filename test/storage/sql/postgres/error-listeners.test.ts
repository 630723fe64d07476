import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { ErrorListeners } from '../../../../src/storage/sql/clients/pg-error-listeners.ts'

test('a client that is lost in the turn in which it is handed out ends no process, and has no listener a turn later', async () => {
  const [pool, client] = [new EventEmitter(), new EventEmitter()]
  const stop = new ErrorListeners().listenOnAcquire(pool)
  pool.emit('acquire', client)
  client.emit('error', new Error('terminating connection due to administrator command')) // throws without a listener

  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(client.listenerCount('error')).toBe(0)
  stop()
  expect(pool.listenerCount('acquire')).toBe(0)
})

test('a client has one listener, however many operations share it, until the last of them ends', () => {
  const [listeners, client] = [new ErrorListeners(), new EventEmitter()]
  const stops = Array.from({ length: 20 }, () => listeners.listen(client))
  const counts = [client.listenerCount('error')]
  for (const stop of stops) {
    counts.push(client.listenerCount('error'))
    stop()
  }

  expect(new Set(counts)).toEqual(new Set([1]))
  expect(client.listenerCount('error')).toBe(0)
})

test('a pool has one acquire listener, however many storages use it', () => {
  const pool = new EventEmitter()
  for (let count = 0; count < 20; count += 1) new ErrorListeners().listenOnAcquire(pool)

  expect(pool.listenerCount('acquire')).toBe(1)
})
