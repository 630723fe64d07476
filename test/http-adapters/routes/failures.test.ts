import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { TextResponse } from '../../../src/http-adapters/http.ts'
import { bodyTooLarge } from '../../../src/http-adapters/http.ts'
import { ForgeError } from '../../../src/index.ts'
import { openWorld } from '../../world.ts'
import { plainRequest } from '../dispatch.ts'

const request = plainRequest({})

function answered(error: unknown): {
  readonly reply: TextResponse
  readonly body: object
  readonly levels: readonly string[]
} {
  const { api, logged } = openWorld()
  const reply = api.failed(request, error)
  return { reply, body: JSON.parse(reply.body ?? 'null'), levels: logged.map(({ level }) => level) }
}

describe('a failure', () => {
  it.each<[error: unknown, status: number, levels: readonly string[], seconds?: string]>([
    [new ForgeError('FORBIDDEN', 'no', { action: 'pins.write', reason: 'no' }), 403, []],
    [new ForgeError('BADGE_EXISTS', 'there', { slug: 'a' }), 409, []],
    [new ForgeError('INVALID_INPUT', 'a', { violations: [] }), 422, []],
    [bodyTooLarge(5), 413, []],
    [new ForgeError('STORAGE_BUSY', 'SQLITE_BUSY on /var/db', { retry: 'call' }), 503, ['warn'], '1'],
    [new ForgeError('STORAGE_UNAVAILABLE', 'SQLITE_CANTOPEN /var/db', { outcome: 'unknown' }), 503, ['error'], '5'],
    [new ForgeError('SCHEMA_OUTDATED', 'run /usr/bin/x', { found: 1, needed: 2 }), 503, ['error'], '5'],
    [new ForgeError('SCHEMA_CONFLICT', 'at forgelet_pins', { name: 'forgelet_pins' }), 503, ['error'], '5'],
    [new ForgeError('SCHEMA_TOO_NEW', 'at /var/db', { found: 3, oldestLibrary: 2 }), 503, ['error'], '5'],
    [new ForgeError('SIGNING_KEY_UNREADABLE', 'EACCES /etc/key'), 500, ['error']],
    [new Error('select * from'), 500, ['error']],
    ['a string', 500, ['error']],
    [undefined, 500, ['error']],
  ])('%s is %i, logged as %j, and says nothing of the inside', (error, status, levels, seconds) => {
    const answer = answered(error)

    expect([answer.reply.status, answer.levels]).toEqual([status, levels])
    expect(Object.fromEntries(answer.reply.headers)['Retry-After']).toBe(seconds)
    if (status < 500) return
    expect(answer.body).toMatchObject({ requestId: 'request-1' })
    expect(answer.reply.body).not.toMatch(/SQLITE|var|usr|_pins|etc|select|string/)
  })

  it('of a code that this copy does not know is a 500', () => {
    const newer = new ForgeError('ISSUE_NOT_PINNED', 'x')

    expect(answered(Object.assign(newer, { code: 'FROM_THE_FUTURE' })).body).toMatchObject({ code: 'INTERNAL' })
  })

  it('of an input lists every violation', () => {
    const violations = [{ pointer: '/a', code: 'range', message: 'a' }]
    const { body } = answered(new ForgeError('INVALID_INPUT', 'a', { violations }))

    expect(body).toEqual({ message: 'a', url: '', code: 'INVALID_INPUT', violations })
  })
})

function noDisk(): never {
  throw new Error('no disk')
}

describe('a failure is answered all the same', () => {
  const hostile = new Proxy(new Error('x'), {
    has: () => {
      throw new Error('no one may read')
    },
  })
  const endless = { pointer: '', code: 'range', message: 'x', limit: 5n }

  it.each([
    ['that cannot be inspected', hostile],
    ['whose details are not JSON', new ForgeError('INVALID_INPUT', 'x', { violations: [endless] })],
  ])('when something was thrown %s', (_what, error) => {
    const { body, levels } = answered(error)

    expect(body).toMatchObject({ code: 'INTERNAL', requestId: 'request-1' })
    expect(levels).toEqual(['error'])
  })

  it.each([...[5n, '', undefined, {}].map((id) => [`gives ${id}`, () => id] as const), ['throws', noDisk] as const])(
    'with a random id when newId %s',
    (_how, newId) => {
      // What a host in JavaScript may give.
      const { body } = openWorld({ newId: newId as () => never }).api.failed(request, new Error('x'))

      expect(JSON.parse(body ?? '')).toMatchObject({ requestId: expect.stringMatching(/^[\da-f-]{36}$/) })
    },
  )

  it.each([
    ['throws', noDisk],
    ['rejects, which is not reported', async () => noDisk()],
  ])('when the logger %s', async (_how, fail) => {
    const unheard = vi.fn()
    process.on('unhandledRejection', unheard)
    onTestFinished(() => void process.off('unhandledRejection', unheard))
    const failing = vi.fn(fail)
    const { api } = openWorld({ logger: { error: failing, warn: failing } })
    expect(api.failed(request, new Error('x'))).toMatchObject({ status: 500 })
    await new Promise((resolve) => setImmediate(resolve)) // unhandled rejections are reported by then

    expect(failing).toHaveBeenCalledOnce()
    expect(unheard).not.toHaveBeenCalled()
  })
})

describe('a failure of a request whose signal has aborted', () => {
  const reason = new Error('the client has gone')
  const aborted = { ...request, signal: AbortSignal.abort(reason) }

  it.each([
    ['is logged when it has another cause', new Error('no such table'), ['request failed']],
    ['is logged when the database is unavailable', unavailable(), ['database not available']],
    ['is a warning when it is the reason of the abort', reason, ['request aborted by its signal']],
    ['is a warning when it is an abort', new DOMException('aborted', 'AbortError'), ['request aborted by its signal']],
  ])('%s', (_what, error, expected) => {
    const { api, logged } = openWorld()
    const { body } = api.failed(aborted, error)

    expect(logged.map(({ message }) => message)).toEqual(expected)
    expect(JSON.parse(body ?? '')).toMatchObject({ requestId: 'request-1' })
  })

  it('is not logged when it is the reason of the abort, and the client is known to have gone', () => {
    const { api, logged } = openWorld()
    api.failed({ ...aborted, isGone: true }, reason)

    expect(logged).toEqual([])
  })

  function unavailable(): Error {
    return new ForgeError('STORAGE_UNAVAILABLE', 'away', { outcome: 'nothing-done' })
  }
})
