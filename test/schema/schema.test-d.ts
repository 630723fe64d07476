import { describe, expectTypeOf, test } from 'vitest'
import type {
  IssueRecord,
  LabelRecord,
  ReactionRecord,
  Schema,
  SchemaResult,
  Violation,
} from '../../src/schema/schema.ts'
import { issueListSchema, issueSchema, labelSchema, reactionSchema, validateIssues } from '../../src/schema/schema.ts'

describe('the types of the schema entry', () => {
  test('are the schemas of the records, and nothing of the library that makes them', () => {
    expectTypeOf(issueListSchema).toEqualTypeOf<Schema<IssueRecord[]>>()
    expectTypeOf(issueSchema).toEqualTypeOf<Schema<IssueRecord>>()
    expectTypeOf(labelSchema).toEqualTypeOf<Schema<LabelRecord>>()
    expectTypeOf(reactionSchema).toEqualTypeOf<Schema<ReactionRecord>>()
    expectTypeOf<keyof Schema<LabelRecord>>().toEqualTypeOf<'~standard'>()
  })

  test('answer a validation at once, with the value or what is wrong', () => {
    expectTypeOf(labelSchema['~standard'].validate).returns.toEqualTypeOf<SchemaResult<LabelRecord>>()
    expectTypeOf(labelSchema['~standard'].validate).parameter(0).toBeUnknown()
  })

  test('know the issues of a valid document, and the violations of another', () => {
    const validation = validateIssues([])
    if (validation.valid) expectTypeOf(validation.issues).toEqualTypeOf<readonly IssueRecord[]>()
    else expectTypeOf(validation.violations).toEqualTypeOf<readonly Violation[]>()
    // @ts-expect-error violations exist only after `valid` was checked
    void validation.violations
  })
})
