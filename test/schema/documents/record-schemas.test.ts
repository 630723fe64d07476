import { describe, expect, test } from 'vitest'
import { issueListSchema, issueSchema, labelSchema, reactionSchema } from '../../../src/schema/schema.ts'
import { bareIssue, fullIssue } from './sample-issue.ts'

const SCHEMAS = [
  ['issueListSchema', issueListSchema],
  ['issueSchema', issueSchema],
  ['labelSchema', labelSchema],
  ['reactionSchema', reactionSchema],
] as const

const ACCEPTED = [
  ['a document', issueListSchema, [bareIssue, fullIssue]],
  ['an issue', issueSchema, fullIssue],
  ['a label', labelSchema, { name: 'bug', color: 'd73a4a', description: '' }],
  ['a reaction', reactionSchema, { user_id: 4, user_name: 'ada', content: '+1' }],
] as const

/** What is wrong with the parts of an issue: document-cases.ts. */
const REFUSED = [
  ['a document', issueListSchema, [bareIssue, 7], [{ path: [1], message: 'expected an issue object' }]],
  [
    'an issue',
    issueSchema,
    { ...bareIssue, labels: [{}] },
    [{ path: ['labels', 0, 'name'], message: 'missing: expected a string' }],
  ],
  ['no label', labelSchema, 'bug', [{ path: [], message: 'expected a label object' }]],
  [
    'a label with an undefined color',
    labelSchema,
    { name: 'bug', color: undefined },
    [{ path: ['color'], message: 'expected a string' }],
  ],
  [
    'a reaction with an undefined name',
    reactionSchema,
    { user_id: 4, content: '', user_name: undefined },
    [{ path: ['user_name'], message: 'expected a string' }],
  ],
  [
    'a reaction',
    reactionSchema,
    { user_id: '4', content: '+1', emoji: 1 },
    [
      { path: ['user_id'], message: 'expected a finite number' },
      { path: ['emoji'], message: 'unknown property, expected only user_id, user_name, content' },
    ],
  ],
] as const

describe('a Standard Schema', () => {
  test.each(SCHEMAS)('of version 1, with a vendor and a function, is all there is to see of %s', (_, schema) => {
    expect(schema['~standard']).toStrictEqual({ version: 1, vendor: 'forgelet', validate: expect.any(Function) })
    expect(Reflect.ownKeys(schema)).toStrictEqual(['~standard'])
  })

  test.each(ACCEPTED)('returns the same value for %s', (_, schema, value) => {
    const result = schema['~standard'].validate(value)

    expect(result).toStrictEqual({ value })
    expect('value' in result && result.value).toBe(value)
  })

  test.each(REFUSED)('reports what is wrong with %s', (_, schema, value, issues) => {
    expect(schema['~standard'].validate(value)).toStrictEqual({ issues })
  })

  test('reads no further than the hundredth fault', () => {
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
})
