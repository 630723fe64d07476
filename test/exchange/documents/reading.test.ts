import { randomBytes } from 'node:crypto'
import { getEventListeners } from 'node:events'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ReadOptions } from '../../../src/exchange/exchange.ts'
import { readExchange, readIssues } from '../../../src/exchange/exchange.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { githubIssue } from '../forges/samples.ts'
import { bytesOf, outcomeOf, piecesOf, readSource } from '../reading.ts'

const DOCUMENT = JSON.stringify([fullIssue, bareIssue])

/** A source that counts what is done with it. */
class Source {
  pieces = 0
  ended = 0
  readonly #last: () => Promise<IteratorResult<Uint8Array>>

  constructor(last: () => Promise<IteratorResult<Uint8Array>>) {
    this.#last = last
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        this.pieces += 1
        return this.pieces === 1 ? { value: bytesOf(`[${JSON.stringify(fullIssue)},`) } : this.#last()
      },
      return: async () => {
        this.ended += 1
        return { done: true, value: undefined }
      },
    }
  }
}

const never = (): Promise<IteratorResult<Uint8Array>> => new Promise(() => undefined)

describe('a source', () => {
  test.each([
    ['a text', DOCUMENT],
    ['bytes', bytesOf(DOCUMENT)],
    ['a list of bytes', [bytesOf(DOCUMENT.slice(0, 9)), new Uint8Array(), bytesOf(DOCUMENT.slice(9))]],
    ['a stream of the web', new Blob([DOCUMENT]).stream()],
  ])('may be %s', async (_, json) => {
    expect((await outcomeOf(json)).issues).toStrictEqual([fullIssue, bareIssue])
  })

  test('may be a long text with pairs at every border', async () => {
    const document = [{ ...fullIssue, content: `x${'\u{1F680}'.repeat(100_000)}` }]

    expect((await outcomeOf(JSON.stringify(document))).issues).toStrictEqual(document)
  })

  test('that is a text with half of a surrogate pair is refused', async () => {
    expect((await outcomeOf('[\ud83d]')).violations).toMatchObject([
      { pointer: '', code: 'surrogate', offset: 0, line: 1 },
    ])
  })

  test.each([
    ['no source', undefined],
    ['no bytes', { json: 7 }],
    ['nothing in it', {}],
  ])('that is %s is a TypeError at once', (_, source) => {
    // @ts-expect-error: a caller without types
    expect(() => readIssues(source)).toThrow(/^readIssues needs a source: /)
  })

  test('with pieces that are not bytes is a TypeError', async () => {
    // @ts-expect-error: a stream with an encoding yields texts
    await expect(outcomeOf(['[', ']'])).rejects.toThrow('a byte source must yield Uint8Array')
  })

  test('that throws ends the reading with its error, also when it is compressed', async () => {
    const fault = new Error('the disk is gone')
    for (const first of [bytesOf('[{'), gzipSync(DOCUMENT).subarray(0, 20)]) {
      function* source(): Generator<Uint8Array, void, void> {
        yield first
        throw fault
      }
      await expect(outcomeOf(source())).rejects.toBe(fault)
    }
  })

  test('is read no further than its reader is, and ended when that stops, and when a record ends the reading', async () => {
    const stopped = new Source(never)
    const issues = readIssues({ json: stopped })
    expect(stopped.pieces).toBe(0)
    for await (const issue of issues) {
      expect(issue).toStrictEqual(fullIssue)
      break
    }
    const invalid = new Source(async () => ({ value: bytesOf('{}]') }))
    await outcomeOf(invalid)

    expect([stopped.pieces, stopped.ended, invalid.ended]).toEqual([1, 1, 1])
  })

  test('is read no further than its reader is when it is compressed', async () => {
    const content = (): string => randomBytes(30_000).toString('base64')
    const packed = gzipSync(
      JSON.stringify(Array.from({ length: 100 }, (_, at) => ({ ...bareIssue, number: at + 1, content: content() }))),
    )
    let bytes = 0
    function* pieces(): Generator<Uint8Array, void, void> {
      for (; bytes < packed.length; bytes += 1000) yield packed.subarray(bytes, bytes + 1000)
    }
    let records = 0
    for await (const _ of readIssues({ json: pieces() })) {
      records += 1
      await new Promise((resolve) => setTimeout(resolve, records === 1 ? 50 : 0))
      expect(bytes).toBeLessThan(packed.length * (records / 100) + 200_000)
    }
    expect(records).toBe(100)
  })
})

describe('options', () => {
  test.each<[string, unknown]>([
    ['format', 'jira'],
    ['onInvalid', 'skip'],
    ['confidential', true],
    ['limits', { maxRecordBytes: 0 }],
    ['limits', { maxRecordBytes: 2 ** 40 }],
  ])('%s %j is a TypeError at once', (name, value) => {
    expect(() => readExchange({ json: '[]' }, { [name]: value })).toThrow(new RegExp(`^readExchange needs ${name}`))
  })

  test('a signal that aborts ends a reading that waits, with its reason, and ends the source', async () => {
    const source = new Source(never)
    const abort = new AbortController()
    const reading = outcomeOf(source, { signal: abort.signal })
    const reason = new Error('enough')
    setTimeout(() => abort.abort(reason), 5)

    await expect(reading).rejects.toBe(reason)
    expect(source.ended).toBe(1)
  })

  test('a signal does not collect listeners while a source is read, and has none afterwards', async () => {
    const { signal } = new AbortController()
    const listeners: number[] = []
    async function* pieces(): AsyncGenerator<Uint8Array, void, void> {
      for (const piece of piecesOf(bytesOf(DOCUMENT), 100)) {
        listeners.push(getEventListeners(signal, 'abort').length)
        yield piece
      }
    }
    expect((await outcomeOf(pieces(), { signal })).issues).toHaveLength(2)
    await new Promise((resolve) => setImmediate(resolve))

    expect(listeners.length).toBeGreaterThan(5)
    expect(Math.max(...listeners)).toBeLessThan(2)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('a signal that has aborted ends the reading before the first piece', async () => {
    const source = new Source(never)

    await expect(outcomeOf(source, { signal: AbortSignal.abort(7) })).rejects.toBe(7)
    expect(source.pieces).toBe(0)
  })

  test('onInvalid leaves out each record that is not valid, and what it throws ends the reading', async () => {
    const document = JSON.stringify([{}, bareIssue, 7])
    const pointers: string[] = []
    const { issues } = await outcomeOf(document, { onInvalid: ({ pointer }) => pointers.push(pointer) })
    const fault = new Error('that will do')
    const thrown = outcomeOf(document, {
      onInvalid: () => {
        throw fault
      },
    })

    expect(issues).toStrictEqual([bareIssue])
    expect([pointers[0], pointers.at(-1), pointers.length]).toEqual(['/0/number', '/2', 10])
    await expect(thrown).rejects.toBe(fault)
  })

  test('onInvalid does not keep bytes that cannot be read from ending the reading', async () => {
    const { violations } = await outcomeOf('[{}, {@}', { onInvalid: () => undefined })

    expect(violations).toMatchObject([{ pointer: '/1', code: 'json', offset: 6 }])
  })

  test('onNotCarried has a thousand names of properties at most, and counts the others together', async () => {
    const many = Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`property${at}`, [1, 2]]))
    const read = async (more: object) => {
      const { notCarried } = await readSource({ json: JSON.stringify([{ ...githubIssue, comments: 9, ...more }]) })
      return { notCarried, sum: notCarried.reduce((all, { count }) => all + count, 0) }
    }
    const { notCarried, sum } = await read(many)
    expect(notCarried.length).toBeLessThanOrEqual(1001)
    expect(notCarried).toContainEqual({ what: 'comments', count: 9, pointer: '/0/comments' })
    expect(sum - (await read({})).sum).toBe(3000)
    expect(notCarried.find(({ what }) => what === 'others')?.pointer).toMatch(/^\/0\/property\d+$/)
  })

  test('onProgress and onNotCarried are called at the end, with the bytes of the compressed source', async () => {
    const packed = gzipSync(DOCUMENT)
    const calls: unknown[] = []
    const options: ReadOptions = {
      onProgress: (progress) => calls.push(progress),
      onNotCarried: (what) => calls.push(what),
    }
    await outcomeOf(piecesOf(packed, 100), options)

    expect(calls.slice(-2)).toEqual([[], { records: 2, bytes: packed.length }])
  })
})
