import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { drain, isSending } from '../../../src/http-adapters/node/drain-request.ts'

const MEBIBYTE = new Uint8Array(1_048_576)

describe('isSending', () => {
  it.each([
    [false, { 'content-length': '5' }, true],
    [false, { 'transfer-encoding': 'chunked' }, true],
    [false, { 'content-length': '0' }, false],
    [false, {}, false],
    [true, { 'content-length': '5' }, false],
    [undefined, { 'content-length': '5' }, false],
  ])('with complete %j and %j is %j', (complete, headers, expected) => {
    expect(isSending({ complete, headers, on: () => undefined })).toBe(expected)
  })
})

describe('drain', () => {
  // No real timer outlives its test.
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function dropping(): { readonly request: EventEmitter; readonly reported: readonly string[] } {
    const request = Object.assign(new EventEmitter(), { headers: {} })
    const reported: string[] = []
    drain(request, { ended: () => void reported.push('ended'), cut: () => void reported.push('cut') })
    return { request, reported }
  }

  it.each([
    [64, []],
    [65, ['cut']],
    [66, ['cut']],
  ])('after %i MiB reports %j', (count, expected) => {
    const { request, reported } = dropping()
    for (let sent = 0; sent < count; sent += 1) request.emit('data', MEBIBYTE)

    expect(reported).toEqual(expected)
  })

  it.each(['end', 'error', 'close'])('reports the end at %s, once', (event) => {
    const { request, reported } = dropping()
    request.emit(event)
    request.emit('close')

    expect(reported).toEqual(['ended'])
  })

  it('counts the silence from the last piece, and reports a cut once', () => {
    const { request, reported } = dropping()
    vi.advanceTimersByTime(4999)
    request.emit('data', 'x')
    vi.advanceTimersByTime(4999)
    expect(reported).toEqual([])

    vi.advanceTimersByTime(1)
    request.emit('close')
    expect(reported).toEqual(['cut'])
  })
})
