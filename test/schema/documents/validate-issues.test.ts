import { describe, expect, test } from 'vitest'
import { validateIssues } from '../../../src/schema/schema.ts'
import { invalidDocuments, validDocuments, vastDocuments } from './document-cases.ts'
import { bareIssue, fullIssue } from './sample-issue.ts'

describe('validateIssues', () => {
  test.each(validDocuments)('accepts %s', (_, document) => {
    expect(validateIssues(document)).toStrictEqual({ valid: true, issues: document })
  })

  test.each(invalidDocuments)('refuses %s', (_, document, faults) => {
    const violations = faults.map(([pointer, code, message]) => ({ pointer, code, message }))

    expect(validateIssues(document)).toStrictEqual({ valid: false, violations })
  })

  test.each(vastDocuments)('refuses %s, with the first faults', (_, text, pointer) => {
    const validation = validateIssues(JSON.parse(text), { limit: 3 })

    expect(!validation.valid && validation.violations[0]?.pointer).toBe(pointer)
  })

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'length', '0'])(
    'refuses a property of the name %s in an issue, a label and a reaction',
    (name) => {
      const issue = JSON.parse(JSON.stringify(fullIssue).replaceAll(/\{/g, `{${JSON.stringify(name)}:{"x":1},`))

      expect(faults([issue])).toStrictEqual([
        `/0/${name} unknown_property`,
        `/0/labels/0/${name} unknown_property`,
        `/0/labels/1/${name} unknown_property`,
        `/0/reactions/0/${name} unknown_property`,
        `/0/reactions/1/${name} unknown_property`,
      ])
    },
  )

  // JSON cannot say undefined: such a property would be there for a program and gone from the written document.
  test.each(Object.keys(fullIssue))('refuses undefined as the %s of an issue', (name) => {
    expect(faults([{ ...fullIssue, [name]: undefined }])).toHaveLength(1)
  })

  test('reports the violations of all issues in the order of the document', () => {
    const document = [
      { ...bareIssue, title: 1 },
      bareIssue,
      { ...bareIssue, labels: [{}] },
      'issue',
      { ...bareIssue, ref: 1 },
    ]

    expect(faults(document)).toStrictEqual(['/0/title type', '/2/labels/0/name required', '/3 type', '/4/ref type'])
  })

  test('reports the first hundred violations by default', () => {
    const document = Array.from({ length: 150 }, () => ({ ...bareIssue, title: 1 }))

    expect(faults(document)).toStrictEqual(Array.from({ length: 100 }, (_, at) => `/${at}/title type`))
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d as the limit, as misuse', (limit) => {
    expect(() => validateIssues([], { limit })).toThrow(TypeError)
  })
})

function faults(document: unknown, limit?: number): readonly string[] {
  const validation = validateIssues(document, { limit })
  return validation.valid ? [] : validation.violations.map(({ pointer, code }) => `${pointer} ${code}`)
}
