import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { dropRest, isSending } from '../../../src/http-adapters/node/unread.ts'

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

describe('dropRest', () => {
  it.each([
    [64, false],
    [65, true],
  ])('after %i MiB is done: %j', (count, expected) => {
    const request = Object.assign(new EventEmitter(), { headers: {} })
    let isDone = false
    dropRest(request, () => {
      isDone = true
    })
    for (let sent = 0; sent < count; sent += 1) request.emit('data', MEBIBYTE)

    expect(isDone).toBe(expected)
  })

  it.each(['end', 'error', 'close'])('is done at %s', (event) => {
    const request = Object.assign(new EventEmitter(), { headers: {} })
    let isDone = false
    dropRest(request, () => {
      isDone = true
    })
    request.emit(event)

    expect(isDone).toBe(true)
  })
})
