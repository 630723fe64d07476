import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linkHeader } from '../../../src/http-adapters/routes/pages.ts'

// The unit "binary" makes a table of every character, which takes two seconds.
const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))

describe('linkHeader', () => {
  it('never lets a query out of its brackets', () => {
    fc.assert(
      fc.property(fc.string({ unit }), (query) => {
        const header = linkHeader('', query, { page: 1, limit: 1, total: 2 }) ?? ''

        expect(header).toMatch(/^<\?[\w\-.*+%&=]*>; rel="next",<\?[\w\-.*+%&=]*>; rel="last"$/)
      }),
    )
  })
})
