import { expect, it } from 'vitest'
import { joined } from '../../../src/http-adapters/routes/body.ts'

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) yield Uint8Array.of(at)
}

it('a body of many small chunks is copied into few buffers', async () => {
  const buffers = new Set<number>()
  for (let count = 1; count < 9000; count += 97) {
    const body = await joined(bytes(count))
    expect(body).toEqual(Uint8Array.from({ length: count }, (_, at) => at))
    buffers.add(body?.buffer.byteLength ?? 0)
  }

  expect(buffers.size).toBeLessThan(8)
})
