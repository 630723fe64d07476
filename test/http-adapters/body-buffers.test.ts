import { EventEmitter } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { readBody as readFetchBody } from '../../src/http-adapters/fetch/fetch-context.ts'
import { readBody as readNodeBody } from '../../src/http-adapters/node/node-context.ts'
import { BodyBuffer } from '../../src/http-adapters/routes/body.ts'

// A client decides how a body is cut. What a server keeps of it must depend on its size, not on the number of its chunks.

const SIZE = 65_536
/** The body, a buffer that doubles, and space for what else the process does: a kept view of a byte takes more than 60. */
const MAX_KEPT_BYTES = SIZE * 16

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Bytes that are in use. */
function used(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** The bytes of the body, one at a time, in views of one buffer: as a server has them in what it read from the connection. */
function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1) yield bytes.subarray(at, at + 1)
}

function body(): Uint8Array {
  return Uint8Array.from({ length: SIZE }, (_none, index) => index % 251)
}

const gone = (): Error => new Error('gone')

it('a Node request of one-byte chunks keeps no more than its size', async () => {
  const bytes = body()
  const request = Object.assign(new EventEmitter(), { headers: {} })
  const read = readNodeBody(request, SIZE, gone)
  const before = used()
  for (const chunk of chunksOf(bytes)) request.emit('data', chunk)
  const kept = used() - before
  request.emit('end')

  expect(await read).toEqual(bytes)
  expect(kept).toBeLessThan(MAX_KEPT_BYTES)
})

it('a Fetch request of one-byte chunks keeps no more than its size', async () => {
  const bytes = body()
  const chunks = chunksOf(bytes)
  let before = 0
  let kept = 0
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (before === 0) before = used()
        const next = chunks.next()
        if (next.done !== true) return controller.enqueue(next.value)
        kept = used() - before
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const request = new Request('http://127.0.0.1/', { method: 'POST', body: stream, duplex: 'half' })

  expect(await readFetchBody(request, SIZE, gone)).toEqual(bytes)
  expect(kept).toBeLessThan(MAX_KEPT_BYTES)
})

it('of a body that exceeds the limit nothing is kept', () => {
  const buffer = new BodyBuffer(4)

  expect(buffer.take(Uint8Array.of(1, 2, 3))).toBe(true)
  expect(buffer.take(Uint8Array.of(4, 5))).toBe(false)
  expect(buffer.joined()).toEqual(new Uint8Array(0))
})
