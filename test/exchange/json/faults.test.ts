import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { bytesOf, outcomeOf, piecesOf, readSource } from '../reading.ts'

const ISSUE = JSON.stringify(fullIssue)

const FAULTS: readonly (readonly [document: string, pointer: string, code: string, at: string])[] = [
  ['', '', 'truncated', ''],
  ['\ufeff', '', 'truncated', ''],
  [' \n', '', 'truncated', ''],
  ['[', '', 'truncated', ''],
  [`[${ISSUE},`, '', 'truncated', ''],
  [`[${ISSUE},{"number":@}`, '/1', 'json', '@}'],
  [`[${ISSUE},{"number":1`, '/1', 'truncated', '{"number":1'],
  ['[tru', '/0', 'truncated', 'tru'],
  ['<html>', '', 'json', '<'],
  ['42', '', 'json', '42'],
  ['[,', '', 'json', ','],
  [`[${ISSUE},]`, '', 'json', ']'],
  [`[${ISSUE}${ISSUE}]`, '', 'json', ISSUE],
  [`[${ISSUE}}`, '', 'json', '}'],
  [`[${ISSUE}]]`, '', 'trailing_data', ']'],
  [`[${ISSUE}]\f`, '', 'trailing_data', '\f'],
  [`[${ISSUE}\0]`, '', 'json', '\0]'],
  [`[${ISSUE}],[]`, '', 'trailing_data', ',[]'],
  [`${ISSUE},${ISSUE}`, '', 'trailing_data', `,${ISSUE}`],
  [`[${ISSUE}] x`, '', 'trailing_data', 'x'],
  ['[nul]', '/0', 'json', 'nul'],
  ['[-]', '/0', 'json', ']'],
  ['[01]', '/0', 'json', '01]'],
  ['[1.]', '/0', 'json', ']'],
  ['[1e]', '/0', 'json', ']'],
  ['[{"a" 1}]', '/0', 'json', '1}'],
  ['[{"a":1,}]', '/0', 'json', '}]'],
  ['[{a:1}]', '/0', 'json', 'a:1'],
  ['[{"a":[1 2]}]', '/0', 'json', '2]'],
  ['[{"a":[1}]', '/0', 'json', '}]'],
  ['[{"a":"\\x"}]', '/0', 'json', '\\x"'],
  ['[{"a":"\\u12g4"}]', '/0', 'json', '2g4'],
  ['[{"a":"\n"}]', '/0', 'json', '\n"'],
  ['[\u00a0{}]', '', 'json', '\u00a0'],
]

describe('what is not a document', () => {
  test.each(FAULTS)('%j is at %j a fault %s', async (document, pointer, code, at) => {
    const bytes = bytesOf(document)
    const offset = at === '' ? bytes.length : bytesOf(document.slice(0, document.lastIndexOf(at))).length

    for (const size of [1, 1000]) {
      const { violations } = await outcomeOf(piecesOf(bytes, size))
      const last = violations.at(-1)
      expect([last?.pointer, last?.code, last?.offset]).toEqual([pointer, code, offset])
    }
  })

  test.each([
    ['x', 'expected an array of records, or one on each line'],
    ['[,', 'expected a record or end of the array'],
    ['[]]', 'expected the end, or another record or array'],
  ])('the message for %j is %j', async (document, message) => {
    expect((await outcomeOf(document)).violations.at(-1)?.message).toBe(message)
  })

  test('a missing quote is reported at its record', async () => {
    const [violation] = (await outcomeOf(`[\n{"title": "no end},\n{"title": "b"}]`)).violations

    expect(violation).toMatchObject({ code: 'truncated', pointer: '/0', line: 2, offset: 2 })
  })

  test('bytes that are not UTF-8 are reported with the place of their record', async () => {
    const bytes = bytesOf(`[\n${ISSUE},\n{"title":"?"}]`)
    const at = bytes.lastIndexOf(63)
    const message = 'expected UTF-8 in this record'
    for (const wrong of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80], [0xc3]]) {
      const source = Uint8Array.from([...bytes.subarray(0, at), ...wrong, ...bytes.subarray(at + 1)])
      const { violations, issues } = await outcomeOf(source)
      expect(violations).toEqual([{ pointer: '/1', code: 'utf8', message, offset: bytes.lastIndexOf(123), line: 3 }])
      expect(issues).toHaveLength(1)
    }
  })

  test('half of a surrogate pair is a fault of its record alone', async () => {
    const document = `[${ISSUE.replace('main', '\\ud83d')},${ISSUE}]`
    const { violations, issues } = await readSource({ json: document })

    expect(violations).toMatchObject([{ pointer: '/0/ref', code: 'surrogate', offset: 1 }])
    expect(issues).toStrictEqual([fullIssue])
    expect((await outcomeOf(`[${ISSUE.replace('main', '\\ud83d\\ude80')}]`)).violations).toEqual([])
  })

  test('a property that occurs twice is a fault of its record, however it is written', async () => {
    const document = `[${ISSUE},\n${ISSUE.replace('"number":7', '"number":7,"n\\u0075mber":8')}]`
    const { violations, issues } = await readSource({ json: document })

    expect(violations).toMatchObject([
      { pointer: '/1/number', code: 'duplicate_key', offset: document.lastIndexOf('{"number"'), line: 2 },
    ])
    expect(issues).toStrictEqual([fullIssue])
    const label = `[${ISSUE.replace('{"name":"bug"', '{"name":"a","name":"bug"')}]`
    expect((await outcomeOf(label)).violations).toMatchObject([{ pointer: '/0/labels/0/name', code: 'duplicate_key' }])
  })

  test('colons in texts are no properties', async () => {
    const document = [{ ...fullIssue, content: '"a": "b": \\": {"c":1}' }]

    expect((await outcomeOf(JSON.stringify(document))).issues).toStrictEqual(document)
  })

  test('a violation has the place of its record', async () => {
    const { violations, total } = await outcomeOf(`[\n{\n"number": 7}]`)

    expect(violations[0]).toMatchObject({ pointer: '/0/poster_id', code: 'required', offset: 2, line: 2 })
    expect(total).toBe(8)
  })

  test('of a record with many violations a hundred are in the error, and all are counted', async () => {
    const document = JSON.stringify([{ ...fullIssue, assignees: new Array(250).fill(7) }])
    const { violations, total } = await outcomeOf(document)

    expect([violations.length, total]).toEqual([100, 250])
    expect((await readSource({ json: document })).violations.at(-1)).toMatchObject({
      pointer: '/0/assignees/249',
      offset: 1,
    })
  })
})

describe('the forms of a list', () => {
  test.each([
    ['an array', `[${ISSUE},${ISSUE}]`, 2],
    ['arrays one after the other', `[${ISSUE}][${ISSUE}]`, 2],
    ['arrays in an array', `[[${ISSUE}],[],[${ISSUE}]]`, 2],
    ['a record on each line', `${ISSUE}\n${ISSUE}\n`, 2],
    ['a byte order mark', `\ufeff[${ISSUE},${ISSUE}]`, 2],
    ['one record', ISSUE, 1],
    ['an empty array', '[]', 0],
    ['empty arrays one after the other', '[][]', 0],
    ['empty arrays in an array', '[[],[]]', 0],
  ])('%s is read', async (_, document, count) => {
    for (const size of [1, 1000]) {
      const { issues, total } = await outcomeOf(piecesOf(bytesOf(document), size))
      expect({ issues, total }).toStrictEqual({ issues: new Array(count).fill(fullIssue), total: 0 })
    }
  })

  test('an array within two arrays is a record that is not valid', async () => {
    expect((await outcomeOf('[[[]]]')).violations).toMatchObject([{ pointer: '/0', code: 'type', offset: 2 }])
  })
})

describe('UTF-16', () => {
  const utf16 = (text: string, isLittleEndian: boolean): Buffer => {
    const bytes = Buffer.from(text, 'utf16le')
    return isLittleEndian ? bytes : bytes.swap16()
  }
  const text = `[${ISSUE},\r\n{"title":"\u{1f680} ö"}]\r\n`

  test.each([true, false])('with its mark is read as UTF-8 is, little-endian: %s', async (isLittleEndian) => {
    const bytes = utf16(`\ufeff${text}`, isLittleEndian)
    const expected = await readSource({ json: bytesOf(text) })
    expect(expected.issues).toHaveLength(1)
    for (const source of [bytes, gzipSync(bytes), piecesOf(bytes, 1), piecesOf(bytes, 3), piecesOf(bytes, 1000)]) {
      expect(await readSource({ json: source })).toStrictEqual(expected)
    }
    const yaml = utf16(`\ufeff- ${ISSUE}\n`, isLittleEndian)
    expect((await readSource({ yaml })).issues).toStrictEqual([fullIssue])
    const lines = utf16(`\ufeff${ISSUE}\r\n${ISSUE.replace('7', '8')}\r\n`, isLittleEndian)
    expect((await readSource({ json: lines })).issues).toHaveLength(2)
  })

  test.each([
    ['is cut off within a character', Uint8Array.from([0xff, 0xfe, 0x5b, 0, 0x5d]), 'utf16'],
    ['has half of a pair', Uint8Array.from([0xfe, 0xff, 0, 0x5b, 0xd8, 0x3d, 0, 0x5d]), 'utf16'],
    ['has no mark', utf16(text, true), 'json'],
    ['is empty behind its mark', Uint8Array.from([0xff, 0xfe]), 'truncated'],
  ])('that %s is refused', async (_, bytes, code) => {
    for (const size of [1, 1000]) expect((await outcomeOf(piecesOf(bytes, size))).violations).toMatchObject([{ code }])
  })
})

describe('limits', () => {
  test.each([1, 5, 1000])('a record that is too large is refused, in pieces of %i bytes', async (size) => {
    const limits = { maxRecordBytes: bytesOf(ISSUE).length }
    const fits = bytesOf(`[${ISSUE}]`)
    const document = `[${ISSUE}, ${ISSUE.replace('}', ' }')}]`

    expect((await outcomeOf(piecesOf(fits, size), { limits })).violations).toEqual([])
    expect((await outcomeOf(piecesOf(bytesOf(document), size), { limits })).violations).toMatchObject([
      { pointer: '/1', code: 'too_large', offset: document.lastIndexOf('{"number"') },
    ])
  })

  test('a million brackets are refused at the 65th', async () => {
    for (const bracket of ['[', '{"a":']) {
      const { violations } = await outcomeOf(`[{"a":${bracket.repeat(1_000_000)}`)
      expect(violations).toMatchObject([{ pointer: '/0', code: 'depth', offset: 6 + 63 * bracket.length }])
    }
  })

  test.each([
    ['a property that occurs twice', '{"number":7,"number":7,"labels":[', ']}', 'duplicate_key'],
    ['what is no JSON', '{"number":7,"labels":[', ',]}', 'json'],
  ])('%s has the place of its record if that has more than a MiB', async (_, begin, end, code) => {
    const faultOf = async (more: number) => {
      const zeros = `0${',0'.repeat((1024 * 1024 - begin.length - end.length) / 2 - 1 + more)}`
      const { violations } = await outcomeOf(`[\n${begin}${zeros}${end}]`)
      return violations[0]
    }
    expect(await faultOf(2)).toEqual({ pointer: '/0', code, message: expect.any(String), offset: 2, line: 2 })
    expect(await faultOf(0)).not.toMatchObject({ pointer: '/0', offset: 2 })
  })

  test('a text without an end is refused at the limit', async () => {
    const piece = bytesOf('x'.repeat(64 * 1024))
    function* source(): Generator<Uint8Array, void, void> {
      yield bytesOf('[{"title":"')
      for (;;) yield piece
    }

    expect((await outcomeOf(source())).violations).toMatchObject([{ pointer: '/0', code: 'too_large', offset: 1 }])
  })
})

describe('compressed sources', () => {
  const packed = gzipSync(`[${ISSUE}]`)

  test.each([1, 3, 10_000])('are decompressed, in pieces of %i bytes', async (size) => {
    expect((await outcomeOf(piecesOf(packed, size))).issues).toStrictEqual([fullIssue])
  })

  test('that are cut off anywhere are refused', async () => {
    for (let length = 2; length < packed.length; length += 7) {
      expect((await outcomeOf(packed.subarray(0, length))).violations).toMatchObject([{ code: 'gzip' }])
    }
  })

  test('that are damaged anywhere are refused, or give what they had', async () => {
    for (let at = 2; at < packed.length; at += 5) {
      const damaged = Uint8Array.from(packed)
      damaged[at] = (damaged[at] ?? 0) ^ 16
      const { violations, issues } = await outcomeOf(damaged)
      expect(violations.length === 1 || issues.length === 1).toBe(true)
    }
  })
})
