import { describe, expect, test } from 'vitest'
import { issueJsonSchema, labelJsonSchema, reactionJsonSchema } from '../../../src/schema/schema.ts'

const text = { type: 'string' }
const number = { type: 'number' }
const dateTime = { type: 'string', format: 'date-time' }
const draft04 = 'http://json-schema.org/draft-04/schema#'

const ISSUE = {
  $schema: draft04,
  $id: 'http://example.com/issue.json',
  $$target: 'issue.json',
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    properties: {
      number,
      poster_id: number,
      poster_name: text,
      poster_email: text,
      title: text,
      content: text,
      ref: text,
      milestone: text,
      state: { enum: ['closed', 'open'] },
      is_locked: { type: 'boolean' },
      created: dateTime,
      updated: dateTime,
      closed: { anyOf: [dateTime, { type: 'null' }] },
      labels: { type: 'array', items: { $ref: 'label.json' } },
      reactions: { type: 'array', items: { $ref: 'reaction.json' } },
      assignees: { type: 'array', items: text },
    },
    required: ['number', 'poster_id', 'poster_name', 'title', 'content', 'state', 'is_locked', 'created', 'updated'],
  },
}

const LABEL = {
  $schema: draft04,
  $id: 'label.json',
  $$target: 'label.json',
  type: 'object',
  additionalProperties: false,
  properties: { name: text, color: text, description: text },
  required: ['name'],
}

const REACTION = {
  $schema: draft04,
  $id: 'http://example.com/reaction.json',
  $$target: 'reaction.json',
  type: 'object',
  additionalProperties: false,
  properties: { user_id: number, user_name: text, content: text },
  required: ['user_id', 'content'],
}

const CASES = [
  ['issue.json', issueJsonSchema, ISSUE],
  ['label.json', labelJsonSchema, LABEL],
  ['reaction.json', reactionJsonSchema, REACTION],
] as const

describe.each(CASES)('%s', (_file, jsonSchema, meaning) => {
  test('means what the issue exchange format says', () => {
    expect(withoutProse(jsonSchema())).toStrictEqual(meaning)
  })

  test('is a new object each time', () => {
    Object.assign(jsonSchema(), { type: 'null' })

    expect(withoutProse(jsonSchema())).toStrictEqual(meaning)
  })
})

/** A schema without the words that only people read. Property names are not such words. */
function withoutProse(schema: object): object {
  const { title: _, description: __, ...rest } = { title: '', description: '', ...schema }
  return Object.fromEntries(Object.entries(rest).map(([word, value]) => [word, meaningOf(word, value)]))
}

function meaningOf(word: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => meaningOf('', element))
  if (typeof value !== 'object' || value === null) return value
  if (word !== 'properties') return withoutProse(value)

  return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, meaningOf('', property)]))
}
