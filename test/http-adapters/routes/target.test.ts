import { expect, it } from 'vitest'
import { below, parseTarget, toBase } from '../../../src/http-adapters/routes/messages.ts'

it.each([
  ['/a/b?c=d', '/a/b', 'c=d'],
  ['/a?', '/a', ''],
  ['/a?b?c', '/a', 'b?c'],
  ['?a', '/', 'a'],
  ['', '/', ''],
  ['//host/a', '//host/a', ''],
  ['http://host/a?b', '/a', 'b'],
  ['https://user@host:1/a', '/a', ''],
  ['HTTP://[::1]:3000/a', '/a', ''],
  ['http://host', '/', ''],
  ['http://host?a=http://b/c', '/', 'a=http://b/c'],
  ['/a?b=http://c/d', '/a', 'b=http://c/d'],
  ['*', '*', ''],
])('the target %j is the path %j and the query %j', (target, path, query) => {
  expect(parseTarget(target)).toEqual({ path, query })
})

it.each([
  ['', '/a', '/a'],
  ['/api', '/api', '/'],
  ['/api', '/api/', '/'],
  ['/api', '/api/a', '/a'],
  ['/api', '/apiary', undefined],
  ['/api', '/API/a', undefined],
  ['/api', '/a', undefined],
])('below %j the path %j is %j', (base, path, expected) => {
  expect(below(base, { path, query: 'a=b' })?.path).toBe(expected)
})

it.each([
  [undefined, ''],
  ['/', ''],
  ['/api', '/api'],
  ['/a/b/', '/a/b'],
])('the base path %j is %j', (basePath, expected) => {
  expect(toBase(basePath)).toBe(expected)
})
