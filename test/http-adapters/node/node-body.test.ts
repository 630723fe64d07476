import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { readBody } from '../../../src/http-adapters/node/node-context.ts'
import type { NodeRequest } from '../../../src/http-adapters/node/node-messages.ts'

const gone = (): Error => new Error('gone')

function aRequest(facts: Partial<NodeRequest> = {}): EventEmitter & NodeRequest {
  return Object.assign(new EventEmitter(), { headers: {}, ...facts })
}

describe('readBody', () => {
  it('joins the pieces', async () => {
    const request = aRequest()
    const body = readBody(request, 10, gone)
    for (const piece of ['ab', Buffer.from('cd')]) request.emit('data', piece)
    request.emit('end')
    request.emit('close')

    expect(await body).toEqual(new Uint8Array(Buffer.from('abcd')))
  })

  it('gives nothing for an empty body', async () => {
    const request = aRequest()
    const body = readBody(request, 10, gone)
    request.emit('end')

    expect(await body).toBeUndefined()
  })

  it.each(['error', 'close'])('ends when the request ends with %s', async (event) => {
    const request = aRequest()
    const body = readBody(request, 10, gone)
    request.emit('data', 'ab')
    request.emit(event, new Error('reset'))

    await expect(body).rejects.toThrow('gone')
  })

  it('does not wait for a request that is destroyed', () => {
    expect(() => readBody(aRequest({ destroyed: true }), 10, gone)).toThrow('gone')
  })

  it('reports that the host has read the body itself', () => {
    expect(() => readBody(aRequest({ readableDidRead: true, readableEnded: true }), 10, gone)).toThrow('request.body')
    expect(() => readBody(aRequest({ readableDidRead: true, readableEnded: false }), 10, gone)).toThrow(TypeError)
  })

  it('gives nothing when the host has found no body', () => {
    expect(readBody(aRequest({ readableDidRead: false, readableEnded: true }), 10, gone)).toBeUndefined()
  })

  it.each([
    [10, 'resolves'],
    [9, 'rejects'],
  ] as const)('takes ten bytes at a limit of %i: it %s', async (limit, outcome) => {
    const request = aRequest()
    const body = Promise.resolve(readBody(request, limit, gone)).then(
      () => 'resolves',
      () => 'rejects',
    )
    for (const piece of ['12345', '67890']) request.emit('data', piece)
    request.emit('end')

    expect(await body).toBe(outcome)
  })
})
