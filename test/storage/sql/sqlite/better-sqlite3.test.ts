import { describe, expect, test } from 'vitest'
import { construct, whyUnusable } from '../../../../src/storage/sql/sqlite/better-sqlite3.ts'

describe('an installed better-sqlite3', () => {
  test.each([
    ['12.11.1', '9'],
    ['12.0.0', '8'],
    ['12.0.0', undefined],
    ['13.0.0', '10'],
    ['14.1.0', '11'],
  ])('of version %s runs where Node-API is %s', (version, napi) => {
    expect(whyUnusable(version, napi)).toBeUndefined()
  })

  test.each([
    ['13.2.0', '9'],
    ['13.0.0', '8'],
    ['14.0.0-beta.1', '9'],
    ['13.0.0', undefined],
  ])('of version %s would end the process where Node-API is %s, and the fix is named', (version, napi) => {
    const reason = whyUnusable(version, napi)

    expect(reason).toContain(version)
    expect(reason).toContain('npm i better-sqlite3@12')
    expect(reason).toContain('Node 22')
  })
})

test('a missing better-sqlite3 is reported with the command that installs it', () => {
  expect(whyUnusable(undefined, '9')).toContain('npm i better-sqlite3@12')
})

test.each([
  ['nothing', undefined],
  ['a constructor of something else', Map],
])('%s opens no file', (_name, Constructor) => {
  expect(() => construct(Constructor, 'forge.sqlite')).toThrow(/STORAGE_UNAVAILABLE|driver|opened/)
})
