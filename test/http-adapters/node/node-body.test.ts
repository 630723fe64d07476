import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { readBody } from '../../../src/http-adapters/node/node-context.ts'
import type { NodeRequest } from '../../../src/http-adapters/node/node-messages.ts'

const gone = (): Error => new Error('gone')

function aRequest(facts: Partial<NodeRequest> = {}): EventEmitter & NodeRequest {
  return Object.assign(new EventEmitter(), { headers: {}, ...facts })
}

describe('readBody', () => {
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
})
