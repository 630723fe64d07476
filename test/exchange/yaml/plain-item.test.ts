import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as yaml from 'yaml'
import { plainItem } from '../../../src/exchange/yaml/plain-item.ts'
import { yamlItem } from '../../../src/exchange/yaml/write-yaml.ts'
import { parseItem } from '../../../src/exchange/yaml/yaml-item.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { bytesOf } from '../reading.ts'

const RUNS = process.env['LONG'] === '1' ? 30_000 : 3_000
const MAX_DEPTH = 5

/** As Gitea writes an issue: with literals, texts without quotes, and lists of every kind. */
const DUMPED = `- number: 46
  poster_id: -1
  poster_name: root
  title: '"q" 46, it''s'
  content: |-
    a

       indented block
    : # " end

  kept: |+
    a
    \t\ttabs


  ref: ""
  milestone: später…:no
  closed: null
  nothing:
  state: open
  is_locked: false
  created: 2026-11-21T04:41:42Z
  updated: "2026-11-21T04:41:42+02:00"
  labels:
    - name: 'größe: XL'
      color: "000000"
      description: "\\U0001F680 \\u00e9 \\L \\x41 \\t\\"\\\\"
      exclusive: true
    - name: "yes"
      color: c2e0c6
  meta:
    more: {}
    most:
      deep: 1
  reactions: []
  assignees:
  - wim
  - mia
  - |
    literal
  url: https://example.com/#top
  last: |+
    end

`

/** Lines, words and characters that have a meaning somewhere. */
const PARTS: readonly string[] = [
  ...['\n', '\n\n', ' ', '  ', '    ', '\t', '\r\n', '- ', '-', ': ', ':', '#', ' #', '"', "'", "''", '\\', '|', '|-'],
  ...['|+', '|2', '>', '[]', '[', '{}', '{', '}', ',', '&a ', '*a', '!!str ', '? ', '%', '@', '`', '---\n', '...\n'],
  ...['null', 'Null', '~', 'true', 'TRUE', 'yes', '0', '-0', '+1', '0x1f', '0o7', '1e3', '1.5', '.5', '.inf', '007'],
  ...['123456789012345678', '2024-02-30', '\\ud800', '\\ud83d\\ude80', '\\U00110000', '\\U0001F680', '\\xzz', '\\q'],
  ...[
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\u{1F680}',
    '\0',
    '\u001f',
    'é',
    '__proto__: 1\n',
    'number: 1\n',
    'A: 1\n',
  ],
  ...['  a: 1\n', '    b: 2\n', '    - c\n', '  - d: 1\n', '  e:\n', '  f: |\n', '      x\n', '     \n', ' g: 1\n'],
]

/** What the package makes of an item. A comment is no part of the value, and no plain item has one. */
function parsedByPackage(text: string): { readonly record: unknown } | undefined {
  const raw = { bytes: bytesOf(`#\n${text}`), offset: 0, line: 1 }
  const { records, findings, fault } = parseItem(yaml, raw, MAX_DEPTH)
  return fault === undefined && records.length === 1 && findings.flat().length === 0
    ? { record: records[0] }
    : undefined
}

function expectSame(text: string): void {
  const record = plainItem(text, MAX_DEPTH)
  if (record !== undefined) expect({ text, record }).toStrictEqual({ text, ...parsedByPackage(text) })
}

/** Puts something into a text, in place of some characters. */
const edits = fc.array(fc.record({ at: fc.nat(), cut: fc.nat({ max: 6 }), put: fc.constantFrom('', ...PARTS) }), {
  minLength: 1,
  maxLength: 3,
})

describe('a plain item', () => {
  test('is what forges write', () => {
    expect(parsedByPackage(DUMPED)?.record).toEqual(plainItem(DUMPED, MAX_DEPTH))
    expect(plainItem(DUMPED, MAX_DEPTH)).toMatchObject({
      content: 'a\n\n   indented block\n: # " end',
      assignees: ['wim', 'mia', 'literal\n'],
      nothing: null,
      kept: 'a\n\t\ttabs\n\n\n',
      last: 'end\n\n',
    })
    const written = yamlItem({ ...fullIssue, closed: null, labels: [{ name: 'ü' }], reactions: [], assignees: ['ada'] })
    expect(plainItem(written, MAX_DEPTH)).toBeDefined()
    expect(plainItem(written, MAX_DEPTH)).toEqual(parsedByPackage(written)?.record)
  })

  test('is not too deep, too long, or without an end', () => {
    const deep = '- a:\n    b:\n      c: []\n'
    expect(plainItem(deep, 4)).toEqual({ a: { b: { c: [] } } })
    expect(plainItem(deep, 3)).toBeUndefined()
    expect(plainItem(`- a: ${'b'.repeat(200_000)}\n`, 3)).toBeUndefined()
    expect(plainItem('- a: b', 3)).toBeUndefined()
  })

  test.each([
    '"\\ud800"',
    "'a' b",
    '&a b',
    '*a',
    '!!str a',
    '[1]',
    '> a',
    '|2',
    '0x1',
    '1.5',
    'a: b',
    'a #b',
    '- a',
    ' a',
  ])('does not have the value %s', (value) => {
    expect(plainItem(`- a: ${value}\n`, MAX_DEPTH)).toBeUndefined()
  })

  test('has its properties once', () => {
    expect(plainItem('- a: 1\n  a: 2\n', MAX_DEPTH)).toBeUndefined()
  })

  test('is the same to the package, whatever is edited in it', () => {
    let plain = 0
    fc.assert(
      fc.property(edits, (all) => {
        let text = DUMPED
        for (const { at, cut, put } of all) {
          const start = at % text.length
          text = `${text.slice(0, start)}${put}${text.slice(start + cut)}`
        }
        fc.pre(text.isWellFormed())
        if (plainItem(text, MAX_DEPTH) !== undefined) plain += 1
        expectSame(text)
      }),
      { numRuns: RUNS },
    )
    expect(plain).toBeGreaterThan(RUNS / 20)
  })

  test('is the same to the package, whatever its lines are', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PARTS, 'a', 'a: '), { maxLength: 12 }), (parts) => {
        expectSame(`- a: ${parts.join('')}\n`)
        expectSame(`- a:\n    - ${parts.join('')}\n  b: 1\n`)
        expectSame(`- a: |-\n    ${parts.join('')}\n  b: 1\n`)
        expectSame(`- a: "${parts.join('')}"\n`)
      }),
      { numRuns: RUNS / 5 },
    )
  })
})
