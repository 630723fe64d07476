import { expect, test } from 'vitest'
import { grantBadges, isForgeError } from '../../../src/index.ts'

test('a refusal of very many slugs stays short, and its details have them all', () => {
  const slugs = Array.from({ length: 5000 }, (_, index) => `${index}-${'x'.repeat(1000)}`)
  try {
    grantBadges({ known: ['owl'], held: [] }, slugs)
    expect.unreachable()
  } catch (error) {
    if (!isForgeError(error, 'UNKNOWN_BADGE')) throw error
    expect(error.message.length).toBeLessThan(30_000)
    expect(error.message).toContain('and 4900 more')
    expect(error.details.slugs).toEqual(slugs)
  }
})
