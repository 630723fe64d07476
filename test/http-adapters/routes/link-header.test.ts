import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linkHeader } from '../../../src/http-adapters/routes/pages.ts'

function relations(header: string | undefined): readonly string[] {
  return [...(header ?? '').matchAll(/<\?[^>]*page=(\d+)[^>]*>; rel="(\w+)"/g)].map(
    ([, page, relation]) => `${relation} ${page}`,
  )
}

describe('linkHeader', () => {
  it.each([
    [1, 10, 0, []],
    [1, 10, 10, []],
    [1, 10, 11, ['next 2', 'last 2']],
    [2, 10, 11, ['first 1', 'prev 1']],
    [2, 10, 31, ['next 3', 'last 4', 'first 1', 'prev 1']],
    [9, 10, 21, ['first 1', 'prev 2']],
    [9, 10, 0, []],
  ])('links page %i of %i items each among %i to %j', (page, limit, total, expected) => {
    expect(relations(linkHeader('', '', { page, limit, total }))).toEqual(expected)
  })

  it.each(['token', 'access_token', 'Token', 'ACCESS_TOKEN'])('drops the credential %s', (name) => {
    const header = linkHeader('', `${name}=s3cret&a=1&${name}=again`, { page: 1, limit: 1, total: 2 })

    expect(header).toBe('<?a=1&page=2>; rel="next",<?a=1&page=2>; rel="last"')
  })

  it('never lets a query out of its brackets', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (query) => {
        const header = linkHeader('', query, { page: 1, limit: 1, total: 2 }) ?? ''

        expect(header).toMatch(/^<\?[\w\-.*+%&=]*>; rel="next",<\?[\w\-.*+%&=]*>; rel="last"$/)
      }),
    )
  })
})
