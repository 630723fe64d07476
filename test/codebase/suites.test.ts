import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { NAMED_SUITES } from '../../vitest.config.ts'

// The name of a test file says which suite it is in: `x.test.ts` or `x.<suite>.test.ts` (CONTRIBUTING.md).

const root = resolve(import.meta.dirname, '../..')
const NEEDS_SERVER = /\bon(?:Server|Postgres|Mariadb|OwnServer)\(/

function isNamed(suite: string): boolean {
  return NAMED_SUITES.some((name) => name === suite)
}

/** Why a test file is in no suite, or in the wrong one; undefined when its name is right. */
function mistakeIn(name: string, text: string): string | undefined {
  const [, suite, ...more] = name.replace(/\.test\.ts$/, '').split('.')
  if (more.length > 0 || (suite !== undefined && !isNamed(suite))) return 'names no suite'
  const isWithoutServer = suite !== 'servers' && suite !== 'long'
  return isWithoutServer && NEEDS_SERVER.test(text) ? 'needs a server, and is not in the suite "servers"' : undefined
}

test('every test file is in the suite that its name says', () => {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  const tests = files.filter((file) => file.endsWith('.test.ts') && file !== 'codebase/suites.test.ts')
  const mistakes = tests.flatMap((file) => {
    const mistake = mistakeIn(file.split('/').at(-1) ?? '', readFileSync(join(root, 'test', file), 'utf8'))
    return mistake === undefined ? [] : `${file} ${mistake}`
  })

  expect(tests.length).toBeGreaterThan(100)
  expect(mistakes).toEqual([])
})

test.each([
  ['pins.server.test.ts', '', 'names no suite'],
  ['pins.long.servers.test.ts', '', 'names no suite'],
  ['pins.quick.test.ts', '', 'names no suite'],
  ['pins.test.ts', 'onServer(SERVERS.postgres, () => 1)', 'needs a server, and is not in the suite "servers"'],
  ['pins.test.ts', 'onPostgres((open) => 1)', 'needs a server, and is not in the suite "servers"'],
  ['pins.servers.test.ts', 'onServer(SERVERS.postgres, () => 1)', undefined],
])('of a file %s with the text %j is found: %s', (name, text, expected) => {
  expect(mistakeIn(name, text)).toBe(expected)
})

test('each suite has a command', () => {
  const { scripts } = createRequire(import.meta.url)('../../package.json')
  const commands = ['test', ...NAMED_SUITES.map((suite) => `test:${suite}`)]

  expect(commands.map((command) => / --project=(\w+)/.exec(scripts[command])?.[1])).toEqual(['quick', ...NAMED_SUITES])
})
