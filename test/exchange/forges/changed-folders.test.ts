import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { folderOf, readSource } from '../reading.ts'
import type { Files } from './samples.ts'
import { FOLDERS, optionsOf } from './samples.ts'

const RUNS = process.env['LONG'] === '1' ? 5_000 : 300

/** A value of no form. */
const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, '', '%', '/', '%ff', {}, [], [null], [[]], { '': 1 }, '__proto__'),
  fc.constantFrom({ toString: false }, { valueOf: 1, toString: 2 }),
  fc.jsonValue(),
)

/** Returns a copy in which the value at a place is another one. Places are counted, in the order of the text. */
function changed(value: unknown, place: number, other: unknown): unknown {
  let at = 0
  const copyOf = (part: unknown): unknown => {
    at += 1
    if (at === place) return other
    if (Array.isArray(part)) return part.map(copyOf)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, copyOf(inner)]))
  }
  return copyOf(value)
}

const files: fc.Arbitrary<readonly [forge: string, files: Files, name: string]> = fc.constantFrom(
  ...Object.entries(FOLDERS).flatMap(([forge, all]) =>
    Object.keys(all)
      .filter((name) => name.endsWith('.json') && isOneValue(all[name] ?? ''))
      .map((name) => [forge, all, name] as const),
  ),
)

/** Pages that were written one behind the other are several. */
function isOneValue(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a folder of a forge', () => {
  test('with any other value in it is read, or is not valid', async () => {
    await fc.assert(
      fc.asyncProperty(files, fc.nat({ max: 120 }), values, async ([forge, all, name], place, value) => {
        const text = JSON.stringify(changed(JSON.parse(all[name] ?? ''), place + 1, value))
        const outcome = await readSource(folderOf({ ...all, [name]: text }), optionsOf(forge))
        // readSource throws every other error
        const found = outcome.records.length + outcome.violations.length + outcome.notCarried.length
        for (const { message, pointer } of outcome.violations)
          expect(`${pointer} ${message}`).toMatch(/^\S* (expected |missing|the source)/)
        const isEmptyList = place === 0 && Array.isArray(value) && value.length === 0 // a document without issues
        expect(found).toBeGreaterThanOrEqual(isEmptyList ? 0 : 1)
      }),
      { numRuns: RUNS },
    )
  })

  test.each<[keyof typeof FOLDERS, string, string]>([
    ['github-archive', 'issues_000001.json', '"url"'],
    ['github-archive', 'issue_events_000001.json', '"issue"'],
    ['gitea-dump', 'issue.yml', 'foreignindex'],
  ])('%s with an object without a text as %s %s is read, or is not valid', async (forge, name, property) => {
    const all: Files = FOLDERS[forge]
    const text = (all[name] ?? '').replace(new RegExp(`(${property}: ).*?(,?)$`, 'm'), '$1{"toString": false}$2')
    expect(text).toContain('toString')
    const { records, violations } = await readSource(folderOf({ ...all, [name]: text }), optionsOf(forge))
    expect(records.length + violations.length).toBeGreaterThan(0)
  })
})
