import { expect, test } from 'vitest'
import { issueSchema, validateIssues } from '../../../src/schema/schema.ts'
import { bareIssue } from './sample-issue.ts'
import { vastDocuments } from './vast-documents.ts'

test.each(vastDocuments)('%s: refused, with the first faults', (_, document, pointer) => {
  const validation = validateIssues(document, { limit: 3 })

  expect(!validation.valid && validation.violations[0]?.pointer).toBe(pointer)
})

test('the Standard Schema gives every fault of a vast list', () => {
  const labels = new Array(200_000).fill('bug')

  expect(issueSchema['~standard'].validate({ ...bareIssue, labels }).issues).toHaveLength(200_000)
})
