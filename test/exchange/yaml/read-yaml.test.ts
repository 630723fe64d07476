import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { yamlItem } from '../../../src/exchange/yaml/write-yaml.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { bytesOf, piecesOf } from '../reading.ts'
import { readSource } from '../source.ts'

const ISSUE = yamlItem({ ...fullIssue, closed: null, labels: [], reactions: [], assignees: ['ada'] })
const RUNS = process.env['LONG'] === '1' ? 3_000 : 150

const FAULTS: readonly (readonly [document: string, code: string, at: string])[] = [
  ['number: 1\n', 'yaml', 'number'],
  ['  - number: 1\n', 'yaml', '  -'],
  ['%YAML 1.1\n---\n- a: 1\n', 'yaml', '%'],
  ['--- a\n', 'yaml', '---'],
  ['- a: [1\n', 'yaml', ''],
  ['- a: "b\n', 'yaml', ''],
  ['- a: &x [1]\n', 'alias', '&x'],
  ['- a: *x\n', 'alias', '*x'],
  ['- a: !!str 1\n', 'yaml', '!!str'],
  ['- a: !custom 1\n', 'yaml', '!custom'],
  ['- "ö": &x a\n', 'alias', '&x'],
  [`- ${'['.repeat(70)}\n`, 'depth', ''],
  [`- ${'- '.repeat(70)}a\n`, 'depth', ''],
  [`- a: [${'1,'.repeat(300_000)}]\n`, 'too_large', ''],
]

describe('YAML', () => {
  test.each(FAULTS.map(([document, ...rest]) => [document.slice(0, 20), document, ...rest] as const))(
    '%# %j is not a list of records',
    async (_begin, document, code, at) => {
      const text = `${ISSUE}${document}`
      for (const size of [1, 1000]) {
        if (size === 1 && text.length > 10_000) continue
        const { records, violations } = await readSource({ yaml: piecesOf(bytesOf(text), size) })

        expect(violations).toMatchObject([{ code }])
        expect(records.length).toBeLessThan(3)
        if (at !== '') expect(violations[0]?.offset).toBe(bytesOf(text.slice(0, text.lastIndexOf(at))).length)
      }
    },
  )

  test('several lists, comments, empty lists and documents are one list', async () => {
    const text = `\ufeff# issues\n---\n${ISSUE}\n[]\n${ISSUE}# more\n...\n---\n${ISSUE.replaceAll('\n', '\r\n')}[]`
    const { records, violations } = await readSource({ yaml: text })

    expect(violations).toEqual([])
    expect(records).toHaveLength(3)
    expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(1)
  })

  test('JSON on one line is YAML', async () => {
    const { records } = await readSource({ yaml: JSON.stringify([fullIssue, fullIssue]) })
    expect(records).toEqual([
      { kind: 'issue', issue: fullIssue },
      { kind: 'issue', issue: fullIssue },
    ])
  })

  test('a violation has the place of its value; a property that occurs twice, and half a pair, are violations', async () => {
    const text = `${ISSUE}- title: ü\n  number: no\n  number: 7\n  "\\ud800": 1\n${ISSUE}`
    const { records, violations } = await readSource({ yaml: gzipSync(text) })
    const of = (code: string, pointer: string) =>
      violations.find((each) => each.code === code && each.pointer === pointer)

    expect(records).toHaveLength(2)
    expect(of('duplicate_key', '/1/number')).toMatchObject({ line: ISSUE.split('\n').length + 2 })
    expect(of('duplicate_key', '/1/number')?.offset).toBe(bytesOf(text.slice(0, text.indexOf('7\n  "\\ud800'))).length)
    expect(of('surrogate', '/1/\ud800')).toBeDefined()
    expect(of('required', '/1/poster_id')).toMatchObject({ line: ISSUE.split('\n').length })
  })

  test('bytes that are not UTF-8 are reported where they are', async () => {
    const bytes = Uint8Array.from([...bytesOf(`${ISSUE}- title: a`), 0xff, 10])
    const { violations, records } = await readSource({ yaml: bytes })
    expect(records).toHaveLength(1)
    expect(violations).toMatchObject([{ code: 'utf8', pointer: '/1', offset: bytes.length - 2 }])
  })

  test('a record is limited', async () => {
    const source = { yaml: `${ISSUE}- title: ${'a'.repeat(2000)}\n` }
    const { violations, records } = await readSource(source, { limits: { maxRecordBytes: 1500 } })
    expect(records).toHaveLength(1)
    expect(violations).toMatchObject([{ code: 'too_large' }])
  })

  test('compressed data that is cut off is reported', async () => {
    const { violations } = await readSource({ yaml: gzipSync(ISSUE).subarray(0, 60) })
    expect(violations).toMatchObject([{ code: 'gzip' }])
  })

  test('an alias bomb is refused at its first anchor', async () => {
    const levels = Array.from({ length: 30 }, (_, at) => `  b${at}: &b${at} [${`*b${at - 1},`.repeat(10)}]\n`)
    const text = `- a: &b-1 [1,1,1,1,1,1,1,1,1,1]\n${levels.join('')}`
    const { violations } = await readSource({ yaml: text })
    expect(violations).toMatchObject([{ code: 'alias', offset: 5, line: 1 }])
  })

  test('pieces of any size give the same', async () => {
    const lines = fc.constantFrom(
      ISSUE,
      '- a: 1\n',
      '[]\n',
      '---\n',
      '...\n',
      '# c\n',
      '\n',
      '  \n',
      '- "é\n',
      'x\n',
      '-',
      '--',
      '\r\n',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(lines, { maxLength: 8 }), fc.constantFrom(1, 2, 3, 7), async (parts, size) => {
        const bytes = bytesOf(parts.join(''))
        const source = { yaml: piecesOf(bytes, size) }
        expect(await readSource(source)).toEqual(await readSource({ yaml: bytes }))
      }),
      { numRuns: RUNS },
    )
  })

  test('every text that is written is read as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), async (content, title) => {
        fc.pre(content.isWellFormed() && title.isWellFormed())
        const issue = { ...fullIssue, content, title }
        const { records } = await readSource({ yaml: yamlItem({ ...JSON.parse(JSON.stringify(issue)) }) })
        expect(records).toEqual([{ kind: 'issue', issue }])
      }),
      { numRuns: RUNS },
    )
  })
})
