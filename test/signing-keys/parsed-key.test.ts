import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import type { MaybePromise } from '../../src/index.ts'
import { LazyKey } from '../../src/signing-keys/lazy-key.ts'

function counted(read: () => MaybePromise<string>) {
  const count = { parses: 0 }
  const key = new LazyKey('ssh', () => {
    count.parses += 1
    return read()
  })
  return { key, count }
}

async function later(text: string): Promise<string> {
  return text
}

test('a key asked for by many at once is parsed once', async () => {
  const { key, count } = counted(() => later('line\n'))
  const answers = await Promise.all([key.publicKey(), key.publicKey(), key.publicKey()])

  expect(new Set(answers.map((answer) => answer.text))).toEqual(new Set(['line\n']))
  expect(count.parses).toBe(1)
})

test('a parsed key answers at once', async () => {
  const { key } = counted(() => later('line\n'))
  await key.publicKey()

  expect(key.publicKey()).toMatchObject({ text: 'line\n' })
})

test('a key that cannot be parsed is tried once', async () => {
  const { key, count } = counted(() => Promise.reject(new Error('broken')))
  await expect(key.publicKey()).rejects.toThrow('broken')

  expect(() => key.publicKey()).toThrow('broken')
  expect(count.parses).toBe(1)
})

test('the entity tag is quoted, strong, and follows the text', async () => {
  const [one, same, other] = await Promise.all(
    ['a\n', 'a\n', 'b\n'].map((text) => new LazyKey('ssh', () => later(text)).publicKey()),
  )

  expect(one?.etag).toMatch(/^"[\w-]{43}"$/)
  expect(same?.etag).toBe(one?.etag)
  expect(other?.etag).not.toBe(one?.etag)
})

test('a signal that is already aborted is checked first', () => {
  const { key, count } = counted(() => later('line\n'))

  expect(() => key.publicKey({ signal: AbortSignal.abort(new Error('gone')) })).toThrow('gone')
  expect(count.parses).toBe(0)
})

test('a signal ends the wait of one, and the others get the key', async () => {
  const leaving = new AbortController()
  const { key, count } = counted(() => later('line\n'))
  const gone = Promise.resolve(key.publicKey({ signal: leaving.signal }))
  const staying = key.publicKey({ signal: new AbortController().signal })
  leaving.abort(new Error('gone'))

  await expect(gone).rejects.toThrow('gone')
  expect(await staying).toMatchObject({ text: 'line\n' })
  expect(count.parses).toBe(1)
})

test.each([
  ['has a text', () => later('line\n')],
  ['cannot be parsed', () => Promise.reject(new Error('broken'))],
])('a key that %s leaves no listener on the signal of a caller', async (_what, read) => {
  const { signal } = new AbortController()
  const key = new LazyKey('ssh', read)
  await Promise.allSettled([key.publicKey({ signal }), key.publicKey({ signal })])
  await new Promise((resolve) => setImmediate(resolve))

  expect(getEventListeners(signal, 'abort')).toEqual([])
})
