import { getEventListeners } from 'node:events'
import { beforeAll, expect, test } from 'vitest'
import { generateKey, openpgpKey } from '../../src/signing-keys/signing-keys.ts'

// What every key is to its callers while it is parsed, and after that. open-key-file.test.ts has the rest.

let key: string

beforeAll(async () => {
  key = (await generateKey({ format: 'openpgp', name: 'Forge', email: 'forge@example.com' })).privateKey
})

test('the entity tag is quoted, strong, and follows the text', async () => {
  const other = await generateKey({ format: 'openpgp', name: 'Other', email: 'other@example.com' })
  const tags = await Promise.all(
    [key, key, other.privateKey].map(async (each) => (await openpgpKey(each).publicKey()).etag),
  )

  expect(tags[0]).toMatch(/^"[\w-]{43}"$/)
  expect(tags[1]).toBe(tags[0])
  expect(tags[2]).not.toBe(tags[0])
})

test('a signal ends the wait of one, and the others get the key', async () => {
  const leaving = new AbortController()
  const source = openpgpKey(key)
  const gone = Promise.resolve(source.publicKey({ signal: leaving.signal }))
  const staying = source.publicKey({ signal: new AbortController().signal })
  leaving.abort(new Error('gone'))

  await expect(gone).rejects.toThrow('gone')
  const answer = await staying
  expect(answer.text).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----/)
  expect(source.publicKey()).toBe(answer) // at once, and parsed once
})

test.each([
  ['has a text', () => key],
  ['cannot be parsed', () => `${key.slice(0, 200)}\n${key.slice(300)}`],
])('a key that %s leaves no listener on the signal of a caller', async (_what, make) => {
  const { signal } = new AbortController()
  const source = openpgpKey(make())
  const outcomes = await Promise.allSettled([source.publicKey({ signal }), source.publicKey({ signal })])
  await new Promise((resolve) => setImmediate(resolve))

  expect(outcomes[1]).toEqual(outcomes[0])
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
