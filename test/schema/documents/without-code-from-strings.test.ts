// Workers and pages with a strict content security policy make no code from strings: checks are interpreted there.
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { IssueValidation } from '../../../src/schema/schema.ts'
import { invalidDocuments, validDocuments } from './document-cases.ts'
import { vastDocuments } from './vast-documents.ts'

let refusals = 0

class RefusedFunction {
  constructor() {
    refusals += 1
    throw new EvalError('Code generation from strings disallowed for this context')
  }
}

describe('where no code may be made from strings', () => {
  let validateIssues: (value: unknown) => IssueValidation

  beforeAll(async () => {
    vi.stubGlobal('Function', RefusedFunction)
    const schema = await import('../../../src/schema/schema.ts')
    schema.validateIssues([{}]) // the first refusal decides for the rest
    vi.unstubAllGlobals()
    validateIssues = schema.validateIssues
  })

  test('making it is tried, and refused', () => {
    expect(refusals).toBeGreaterThan(0)
  })

  test.each(validDocuments)('accepts %s', (_, document) => {
    expect(validateIssues(document)).toStrictEqual({ valid: true, issues: document })
  })

  test.each(invalidDocuments)('refuses %s', (_, document, faults) => {
    const violations = faults.map(([pointer, code, message]) => ({ pointer, code, message }))

    expect(validateIssues(document)).toStrictEqual({ valid: false, violations })
  })

  test.each(vastDocuments)('refuses %s', (_, document, pointer) => {
    const validation = validateIssues(document)

    expect(!validation.valid && validation.violations[0]?.pointer).toBe(pointer)
  })
})
