import { expect, test } from 'vitest'
import { issueJsonSchema, labelJsonSchema, reactionJsonSchema } from '../../../src/schema/schema.ts'

// What the schemas accept is what we accept: other-judge.test.ts.

test.each([
  ['issue.json', issueJsonSchema],
  ['label.json', labelJsonSchema],
  ['reaction.json', reactionJsonSchema],
])('%s is draft 4, and a new object each time', (name, jsonSchema) => {
  Object.assign(jsonSchema(), { type: 'null' })

  expect(jsonSchema()).toMatchObject({ $schema: 'http://json-schema.org/draft-04/schema#', $$target: name })
  expect(jsonSchema()).not.toMatchObject({ type: 'null' })
})
