import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8Decoder } from '../../../src/exchange/json/decode-utf8.ts'

const encoder = new TextEncoder()
const LARGE = 'Größe 日本語 \u{1F680} '.repeat(60_000)

describe.each([
  ['this runtime', utf8Decoder()],
  ['a runtime without the modules of Node', utf8Decoder({})],
  ['a runtime that only has their names', utf8Decoder({ process: globalThis.process, Bun: {} })],
  ['a runtime that has a part of them', utf8Decoder({ process: { getBuiltinModule: () => ({ isUtf8: () => true }) } })],
])('the decoder of %s', (_name, decode) => {
  it('returns every text as it was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(decode(encoder.encode(text))).toBe(text)
      }),
    )
  })

  it.each([
    ['nothing', ''],
    ['ASCII', '{"number":1}'],
    ['a byte order mark', '\uFEFF[]'],
    ['each plane', '\u0000\u007F\u0080\u07FF\u0800\uFFFF\u{10000}\u{10FFFF}'],
    ['more than a MiB', LARGE],
  ])('returns %s', (_what, text) => {
    expect(decode(encoder.encode(text))).toBe(text)
  })

  it('returns undefined for all bytes that the strict TextDecoder refuses, and only for them', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const expected = (bytes: Uint8Array): string | undefined => {
      try {
        return strict.decode(bytes)
      } catch {
        return undefined
      }
    }
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 8 }),
      fc.array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 0xff), {
        maxLength: 8,
      }),
    )
    fc.assert(
      fc.property(bytes, (some) => {
        expect(decode(Uint8Array.from(some))).toBe(expected(Uint8Array.from(some)))
      }),
      { numRuns: 1000 },
    )
  })

  it('refuses more than a MiB that is not UTF-8', () => {
    expect(decode(Uint8Array.of(...encoder.encode('ö'), 0x80))).toBeUndefined()
    const large = encoder.encode(LARGE)
    expect(decode(large.subarray(0, large.length - 2))).toBeUndefined()
  })
})
