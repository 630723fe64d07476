import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
let folder = ''

const CASTS: readonly (readonly [text: string, refused: number, what: string])[] = [
  ['export const x = JSON.parse(text) as string', 1, 'a cast'],
  ['export const x = y as unknown as string', 1, 'a cast by way of unknown, once'],
  ['export const x = <string>y', 1, 'a cast with angle brackets'],
  ['/** A thing. */\nexport const x = y as string', 1, 'a cast below a doc comment'],
  [
    'function f() {\n  // Checked.\n  const x = y as string\n  return x as Id\n}',
    1,
    'a second cast below the reason of the first',
  ],
  ['// The schema has checked it.\nexport const x = y as string', 0, 'a cast with its reason above'],
  ['export const x = y as string // The schema has checked it.', 0, 'a cast with its reason behind it'],
  ['export const x = [1] as const', 0, 'as const'],
  ['export const x = 1 satisfies number', 0, 'satisfies'],
  ["import { a as b } from './a.ts'\nb()", 0, 'a renamed import'],
]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'checks-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('the check of casts', () => {
  let refusals = ''

  beforeAll(() => {
    for (const [index, [text]] of CASTS.entries()) writeFileSync(join(folder, `case-${index}.ts`), text)
    refusals = run('check-casts.mjs', ROOT, folder).stderr
  })

  it.each(CASTS.map((row, index) => [...row, index] as const))(
    'of %j refuses %d: %s',
    (_text, refused, _what, index) => {
      expect(refusals.split(`case-${index}.ts:`).length - 1).toBe(refused)
    },
  )

  it('fails when it refuses one', () => {
    expect(run('check-casts.mjs', ROOT, folder).status).toBe(1)
  })

  it('finds none without a reason in the codebase', () => {
    expect(run('check-casts.mjs', ROOT)).toMatchObject({ status: 0, stderr: '' })
  })
})

describe('the check of paths', () => {
  it.each([
    ['a home folder', ['', 'home', 'mia', 'project'].join('/'), 1],
    ['a path of the web', 'https://example.com/home/mia', 0],
    ['a path of a route', '/api/v1/repos/acme/rocket', 0],
  ])('knows %s', (_, text, status) => {
    writeFileSync(join(folder, 'a.md'), `See ${text}.\n`)
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    execFileSync('git', ['add', '.'], { cwd: folder })

    expect(run('check-paths.mjs', folder).status).toBe(status)
  })

  it('finds none in the codebase', () => {
    expect(run('check-paths.mjs', ROOT).stderr).toBe('')
  })
})

describe('the check of names', () => {
  it.each([
    ['a retired name', ['join', 'Sync(database, work)'].join(''), 1],
    ['the name that replaced it', 'withTransactionSync(database, work)', 0],
    ['a retired prefix of a constant', ['LONG', 'EST_NOTE'].join(''), 1],
    ['a retired name of a constant', ['MO', 'ST'].join(''), 1],
    ['the same letters in a longer word', 'Interminable', 0],
    ['a retired word', ['It tel', 'ls the caller'].join(''), 1],
    ['the word that replaced it', 'It reports to the caller', 0],
    ['a retired phrase', ['a cursor that is', 'none'].join(' '), 1],
    ['the letters of a retired word in another', 'a commending doorway', 0],
    ['a retired phrase that means something else', "the host's objects", 0],
  ])('knows %s', (_, text, status) => {
    writeFileSync(join(folder, 'README.md'), `See ${text}.\n`)
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    execFileSync('git', ['add', '.'], { cwd: folder })

    expect(run('check-names.mjs', folder).status).toBe(status)
  })

  it('finds none in the codebase', () => {
    expect(run('check-names.mjs', ROOT).stderr).toBe('')
  })
})

function run(
  tool: string,
  cwd: string,
  ...words: readonly string[]
): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, [join(ROOT, 'tools', tool), ...words], { cwd, encoding: 'utf8' })
}
