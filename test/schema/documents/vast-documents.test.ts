import { expect, test } from 'vitest'
import { issueListSchema, issueSchema, validateIssues } from '../../../src/schema/schema.ts'
import { bareIssue } from './sample-issue.ts'
import { vastDocuments } from './vast-documents.ts'

test.each(vastDocuments)('%s: refused, with the first faults', (_, text, pointer) => {
  const validation = validateIssues(JSON.parse(text), { limit: 3 })

  expect(!validation.valid && validation.violations[0]?.pointer).toBe(pointer)
})

test.each(vastDocuments)('%s: refused by the Standard Schema with 100 faults at most', (_, text) => {
  const { issues } = issueListSchema['~standard'].validate(JSON.parse(text))

  expect(issues?.length).toBeGreaterThan(0)
  expect(issues?.length).toBeLessThanOrEqual(100)
})

test('the Standard Schema reads no further than the hundredth fault', () => {
  const labels: unknown[] = new Array(200_000).fill('bug')
  const read: number[] = []
  for (const at of [98, 99, 100, 199_999]) {
    Object.defineProperty(labels, at, {
      get() {
        read.push(at)
        return 'bug'
      },
    })
  }
  const { issues } = issueSchema['~standard'].validate({ ...bareIssue, labels })

  expect(issues).toHaveLength(100)
  expect(new Set(read)).toEqual(new Set([98, 99]))
})
