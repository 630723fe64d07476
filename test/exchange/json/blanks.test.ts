// Between records, the scanner decides what is JSON; in a record, JSON.parse does. Each text stands where both must agree.
import { describe, expect, test } from 'vitest'
import { bytesOf, outcomeOf, piecesOf } from '../reading.ts'

/** What is wrong with a text that is not JSON. The byte 0x1f begins gzip. */
const UNREADABLE: readonly string[] = ['json', 'utf8', 'truncated', 'trailing_data', 'depth', 'gzip']
/** The four blanks of JSON. */
const BLANKS: readonly string[] = [' ', '\t', '\n', '\r', '\r\n', ' \t\n\r ']
/** What other formats take for a blank: the other control characters, and those of Unicode. */
const NO_BLANKS: readonly string[] = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((text) => !BLANKS.includes(text)),
  ...['\u007f', '\u0085', '\u00a0', '\u1680', '\u180e', '\u200b', '\u2003', '\u2028', '\u2029', '\u202f', '\u205f'],
  ...['\u2060', '\u3000', '\ufeff', '\u00e9', '\u{1f680}', '\\n', '\\u0020', '/**/', '# a\n', '_'],
]

/** Lists with a place for a text between two tokens. */
const BETWEEN: readonly ((text: string) => string)[] = [
  (text) => `${text}[{"a":1},{"b":2}]`,
  (text) => `[${text}{"a":1},{"b":2}]`,
  (text) => `[{"a":1}${text},{"b":2}]`,
  (text) => `[{"a":1},${text}{"b":2}]`,
  (text) => `[{"a":1},{"b":2}${text}]`,
  (text) => `[{"a":1},{"b":2}]${text}`,
  (text) => `[${text}]`,
  (text) => `[1${text},"x"]`,
  (text) => `[null${text}]`,
  (text) => `[1,${text}2]`,
  (text) => `["x"${text},true]`,
  (text) => `[{"a"${text}:1}]`,
  (text) => `[{"a":${text}1}]`,
  (text) => `[{${text}"a":1${text}}]`,
  (text) => `[{"a":[${text}1${text},2]}]`,
]

/** Whole lists with the faults that a list can have between its tokens. What a value can have: test-suite.test.ts. */
const LISTS: readonly string[] = [
  ...[
    '[]',
    '[ ]',
    '[[]]',
    '[[],[]]',
    '[[{"a":1}],[]]',
    '[{}]',
    '[{"a":[]}]',
    '[[{}]]',
    '[null]',
    '["\\u0000"]',
    '["\\""]',
  ],
  ...['[{"a":"]"}]', '[{"a":"}"}]', '[{"a":"[{"}]', '[{"\\"":"\\\\"}]', '["\u2028"]', '["\u{1f680}"]'],
  ...['', ' ', '[', ']', '[[', '[]]', '[][', '[,]', '[,1]', '[1,]', '[1,,2]', '[1 2]', '[{}{}]', '[[][]]', '[1', '[1,'],
  ...['[{', '[{]', '[{}', '[{},', '[}', '{]', '[)', '[1}', '[1]]', '[{"a":1]', '[{"a":1}}]', '[{"a":1}:2]', '[1],'],
  ...[',[1]', ':', '[:]', '["a":1]', '[1:2]', '[1];', '[1]x', 'x[1]', '[1]//', '// a\n[1]', '<a>', '\\', '@', '[1a]'],
  ...['\ufeff', '[\ufeff]', '[]\ufeff'],
]

/** A record of one value may be an element of a list that is an element; JSON.parse knows no records. */
async function isRefused(json: Uint8Array | Iterable<Uint8Array>): Promise<boolean> {
  const { violations } = await outcomeOf(json, { format: 'document', onInvalid: () => undefined })
  return violations.some(({ code }) => UNREADABLE.includes(code))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a list is accepted or refused as JSON.parse does', () => {
  const places = [...BLANKS, '', ...NO_BLANKS].flatMap((text) => BETWEEN.map((between) => between(text)))

  test('with each text between its tokens, in pieces of any size', async () => {
    const lists = [...places, ...LISTS]
    expect(lists.filter(isJson).length).toBeGreaterThan(100)
    expect(lists.filter((text) => !isJson(text)).length).toBeGreaterThan(600)
    for (const text of lists) {
      const isExpected = !isJson(text.replace(/^\ufeff(?=.)/s, '')) // a mark of UTF-8 may be at the beginning
      for (const size of [1, 3, 1000]) {
        expect([text, await isRefused(piecesOf(bytesOf(text), size))]).toEqual([text, isExpected])
      }
    }
  })

  test('a blank stands between lists and records, and nothing else does', async () => {
    for (const text of [...BLANKS, ...NO_BLANKS]) {
      for (const document of [`[{}]${text}[{}]`, `{}\n${text}{}`, `{}${text}`, `[[{}]${text},[{}]]`]) {
        expect([document, await isRefused(bytesOf(document))]).toEqual([document, NO_BLANKS.includes(text)])
      }
    }
  })

  test.each([
    ['half of a mark of UTF-8', [0xef, 0xbb, 0x5b, 0x5d]],
    ['its first byte', [0xef, 0x5b, 0x5d]],
    ['a mark with a blank in it', [0xef, 0x20, 0xbb, 0xbf, 0x5b, 0x5d]],
    ['its second byte behind a bracket', [0x5b, 0xbb, 0x5d]],
    ['its third byte behind a bracket', [0x5b, 0x20, 0xbf, 0x5d]],
    ['two marks', [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x5b, 0x5d]],
    ['a NUL in front', [0, 0x5b, 0x5d]],
    ['UTF-16 without a mark', [0x5b, 0, 0x5d, 0]],
    ['UTF-32 with its mark', [0xff, 0xfe, 0, 0, 0x5b, 0, 0, 0, 0x5d, 0, 0, 0]],
  ])('%s is refused', async (_, bytes) => {
    for (const size of [1, 1000]) expect(await isRefused(piecesOf(Uint8Array.from(bytes), size))).toBe(true)
  })
})
