import { expect, it } from 'vitest'
import { joined, parsedStream } from '../../../src/http-adapters/routes/body.ts'

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) yield Uint8Array.of(at)
}

it('a body of many small chunks is copied into few buffers', async () => {
  const buffers = new Set<number>()
  for (let count = 1; count < 9000; count += 997) {
    const body = await joined(bytes(count))
    expect(body).toEqual(Uint8Array.from({ length: count }, (_, at) => at))
    buffers.add(body?.buffer.byteLength ?? 0)
  }

  expect(buffers.size).toBeLessThan(8)
})

it('JSON of a body parser that is no list is a list of one value', () => {
  expect(parsedStream({ number: 1 }, 5)).toEqual([{ number: 1 }])
})

it.each(['hello', Buffer.from('hello')])('a body that a parser read is limited: %o', async (body) => {
  const read = async (limit: number) => {
    const bytes = parsedStream(body, limit) ?? []
    if (Symbol.asyncIterator in bytes) return joined(bytes)
    throw new TypeError('the body is a list')
  }

  expect(Buffer.from((await read(5)) ?? []).toString()).toBe('hello')
  await expect(read(4)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' })
})
