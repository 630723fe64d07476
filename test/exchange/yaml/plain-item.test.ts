import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SourceOutcome } from '../source.ts'
import { readSource } from '../source.ts'

// An item that looks as forges write it is read without the package "yaml", which reads any other item, such as one behind a
// comment. Both must give the same.

const RUNS = process.env['LONG'] === '1' ? 10_000 : 600

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

/** What a source gives, apart from where that is in the source. */
function withoutPlaces({ records, notCarried, violations }: SourceOutcome): object {
  return {
    records,
    notCarried,
    violations: violations.map(({ pointer, code, message }) => ({ pointer, code, message })),
  }
}

/** Reads an item as it is and behind a comment, and returns what both give. */
async function expectSame(text: string): Promise<SourceOutcome> {
  const [plain, other] = await Promise.all([text, `- # of the package\n${text.replace(/^- /, '  ')}`].map(read))
  if (plain === undefined || other === undefined) throw new TypeError('both were read')
  expect({ text, ...withoutPlaces(plain) }).toStrictEqual({ text, ...withoutPlaces(other) })
  return plain
}

function read(yaml: string): Promise<SourceOutcome> {
  return readSource({ yaml }, { format: 'gitea-dump' })
}

test('an item is read as forges write it', async () => {
  const { records, violations } = await expectSame(DUMPED)

  expect(violations).toEqual([])
  expect(records).toMatchObject([
    {
      issue: {
        title: `"q" 46, it's`,
        content: 'a\n\n   indented block\n: # " end',
        milestone: 'später…:no',
        assignees: ['wim', 'mia', 'literal\n'],
        labels: [{ name: 'größe: XL', description: '\u{1F680} é \u2028 \x41 \t"\\' }, { name: 'yes' }],
      },
    },
  ])
})

/** Puts something into a text, in place of some characters. */
const edits = fc.array(fc.record({ at: fc.nat(), cut: fc.nat({ max: 6 }), put: fc.constantFrom('', ...PARTS) }), {
  minLength: 1,
  maxLength: 3,
})

test('an item is the same to the package, whatever is edited in it', async () => {
  let valid = 0
  await fc.assert(
    fc.asyncProperty(edits, async (all) => {
      let text = DUMPED
      for (const { at, cut, put } of all) {
        const start = 2 + (at % (text.length - 2))
        text = `${text.slice(0, start)}${put}${text.slice(start + cut)}`
      }
      fc.pre(text.isWellFormed())
      if ((await expectSame(text)).records.length > 0) valid += 1
    }),
    { numRuns: RUNS },
  )
  expect(valid).toBeGreaterThan(RUNS / 20)
})

test('a text in an item is the same to the package, whatever its lines are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...PARTS, 'a', 'a: '), { maxLength: 12 }),
      fc.constantFrom('', '"', "'", '|-\n    ', '|+\n    '),
      async (parts, quote) => {
        const end = quote.length === 1 ? quote : ''
        await expectSame(DUMPED.replace('root\n', () => `${quote}${parts.join('')}${end}\n`))
      },
    ),
    { numRuns: RUNS },
  )
})
