// A validator by other hands reads the published schemas: it must accept what we accept, and blame what we blame.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { issueListSchema, validateIssues } from '../../../src/schema/schema.ts'
import { changedDocuments, documents } from './changed-documents.ts'
import { invalidDocuments, validDocuments } from './document-cases.ts'
import { blamedByJudge, judge } from './draft-04-judge.ts'

describe('an independent draft-04 validator with the published schemas', () => {
  test.each(validDocuments)('accepts %s', (_, document) => {
    expect(judge(document)).toBe(true)
  })

  test.each(invalidDocuments)('refuses %s, and blames the same places', (_, document, faults) => {
    expect(blamedByJudge(document)).toStrictEqual(new Set(faults.map(([pointer]) => pointer)))
  })

  test('accepts with us any document made by the format', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(judge(document)).toBe(true)
        expect(validateIssues(document)).toStrictEqual({ valid: true, issues: document })
      }),
      { numRuns: 300 },
    )
  })

  test('blames with us the same places of any document that was changed', () => {
    fc.assert(
      fc.property(changedDocuments, (document) => {
        expect(blamedByUs(document)).toStrictEqual(blamedByJudge(document))
        expect(issueListSchema['~standard'].validate(document).issues === undefined).toBe(judge(document))
      }),
      { numRuns: 3000 },
    )
  })
})

function blamedByUs(document: unknown): ReadonlySet<string> {
  const validation = validateIssues(document, { limit: 100_000 })
  return new Set(validation.valid ? [] : validation.violations.map(({ pointer }) => pointer))
}
