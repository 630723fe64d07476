import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readIssues } from '../../../src/exchange/exchange.ts'
import { yamlOf } from '../../../src/exchange/yaml/write-yaml.ts'
import { bareIssue, fullIssue } from '../../schema/documents/sample-issue.ts'
import { bytesOf, piecesOf, readSource } from '../reading.ts'

const ISSUE = yamlOf([{ ...fullIssue, closed: null, labels: [], reactions: [], assignees: ['ada'] }])
const RUNS = process.env['LONG'] === '1' ? 3_000 : 150

const FAULTS: readonly (readonly [document: string, code: string, at: string])[] = [
  ['--- a\n', 'yaml', '---'],
  ['- a: [1\n', 'yaml', ''],
  ['- a: "b\n', 'yaml', ''],
  ['- a: *x\n', 'yaml', 'x'],
  ['- a: !custom 1\n', 'yaml', '!custom'],
  ['- "ö": *x\n', 'yaml', 'x'],
  ['- a: 1\n  a: 2\n', 'duplicate_key', 'a: 2'],
  [`- ${'['.repeat(70)}\n`, 'yaml', ''],
  [`- ${'- '.repeat(70)}a\n`, 'yaml', ''],
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

  test('a violation has the place of its item, and half a pair is one', async () => {
    const text = `${ISSUE}- title: ü\n  number: no\n  "\\ud800": 1\n${ISSUE}`
    const { records, violations } = await readSource({ yaml: gzipSync(text) })
    const place = { offset: bytesOf(ISSUE).length, line: ISSUE.split('\n').length }

    expect(records).toHaveLength(2)
    expect(violations).toContainEqual(expect.objectContaining({ code: 'surrogate', pointer: '/1/\ud800', ...place }))
    expect(violations).toContainEqual(expect.objectContaining({ code: 'required', pointer: '/1/poster_id', ...place }))
  })

  test('bytes that are not UTF-8 are reported at their item', async () => {
    const bytes = Uint8Array.from([...bytesOf(`${ISSUE}- title: a`), 0xff, 10])
    const { violations, records } = await readSource({ yaml: bytes })
    expect(records).toHaveLength(1)
    expect(violations).toMatchObject([{ code: 'utf8', pointer: '/1', offset: bytesOf(ISSUE).length }])
  })

  test('a record is limited', async () => {
    const source = { yaml: `${ISSUE}- title: ${'a'.repeat(2000)}\n` }
    const { violations, records } = await readSource(source, { limits: { maxRecordBytes: 1500 } })
    expect(records).toHaveLength(1)
    expect(violations).toMatchObject([{ code: 'too_large' }])
  })

  test('an alias bomb is refused at its first alias', async () => {
    const levels = Array.from({ length: 30 }, (_, at) => `  b${at}: &b${at} [${`*b${at - 1},`.repeat(10)}]\n`)
    const text = `- a: &b-1 [1,1,1,1,1,1,1,1,1,1]\n${levels.join('')}`
    const { violations } = await readSource({ yaml: text })
    expect(violations).toMatchObject([{ code: 'yaml', line: 2 }])
  })

  test('names that are kept do not keep the texts of their items', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const used = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const { number: _, poster_name: __, content: ___, ...rest } = bareIssue
    function* items(): Generator<Uint8Array, void, void> {
      for (let number = 1; number <= 100; number += 1) {
        const content = 'x '.repeat(100_000).trim()
        const of = { number, poster_name: `the name of author ${number}`, content, ...rest }
        yield bytesOf(`- ${JSON.stringify(of)}\n`)
      }
    }
    const before = used()
    const names: string[] = []
    for await (const { poster_name } of readIssues({ yaml: items() })) names.push(poster_name)
    expect(used() - before).toBeLessThan(5_000_000) // of 20 MB
    expect(names).toHaveLength(100)
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
})
