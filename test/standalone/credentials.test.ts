import { describe, expect, test } from 'vitest'
import { parseCredentials } from '../../app/standalone/credentials.ts'

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

describe('an Authorization header', () => {
  const cases: readonly (readonly [header: string | undefined, token: string | undefined])[] = [
    ['token abc', 'abc'],
    ['TOKEN abc', 'abc'],
    ['Bearer abc', 'abc'],
    ['bearer   abc ', 'abc'],
    [basic('abc:'), 'abc'],
    [basic('abc:x-oauth-basic'), 'abc'],
    [basic('alice:abc'), 'abc'],
    [basic('alice:a:c'), 'a:c'],
    [basic('älice:').replace('Basic', 'bAsIc'), 'älice'],
    [undefined, undefined],
    ['', undefined],
    ['token', undefined],
    ['token ', undefined],
    ['token a b', undefined],
    ['Digest abc', undefined],
    ['Basic ???', undefined],
    [basic('abc'), undefined],
  ]
  test.each(cases)('%j holds the token %j', (header, token) => {
    expect(parseCredentials(header)).toBe(token)
  })
})
