import type { JsonSchema } from '../json-schema.ts'
import { refTo } from '../json-schema.ts'

const USER_OR_NULL: JsonSchema = { anyOf: [refTo('User'), { type: 'null' }] }
const TIME_OR_NULL: JsonSchema = { type: ['string', 'null'], format: 'date-time' }

const LABEL: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer', format: 'int64' },
    name: { type: 'string' },
    color: { type: 'string', description: 'six hexadecimal digits' },
    description: { type: 'string' },
    url: { type: 'string' },
  },
}

/** What pinned issues and pull requests have in common on the wire. */
const PINNED: Readonly<Record<string, JsonSchema>> = {
  pin_order: { type: 'integer', minimum: 1, description: 'place on the board, from 1 up without gaps' },
  id: {
    type: ['integer', 'string'],
    format: 'int64',
    description: 'identifier, on the whole server; a number in Gitea',
  },
  number: { type: 'integer', format: 'int64', description: 'index in the repository' },
  url: { type: 'string' },
  html_url: { type: 'string', description: 'address of the web page' },
  title: { type: 'string' },
  body: { type: 'string', description: 'the text, in Markdown' },
  user: { ...USER_OR_NULL, description: 'the author' },
  state: { type: 'string', description: '`open` or `closed`' },
  is_locked: { type: 'boolean', description: 'whether only privileged users may comment' },
  comments: { type: 'integer', description: 'how many comments there are' },
  labels: { type: ['array', 'null'], items: LABEL },
  milestone: { type: ['object', 'null'] },
  assignee: { ...USER_OR_NULL, description: 'the first of the assignees' },
  assignees: { type: ['array', 'null'], items: refTo('User') },
  created_at: TIME_OR_NULL,
  updated_at: TIME_OR_NULL,
  closed_at: TIME_OR_NULL,
  due_date: TIME_OR_NULL,
}

/** A pinned issue: the host's object, and its place on the board. */
export const issueSchema: JsonSchema = {
  type: 'object',
  description:
    'A pinned issue, as the host shows it. Which of the properties beside `pin_order` are there is up to the host.',
  required: ['pin_order'],
  properties: {
    ...PINNED,
    repository: { type: ['object', 'null'], description: 'its repository: `id`, `name`, `owner`, `full_name`' },
  },
}

/** A pinned pull request: the host's object, and its place on the board. */
export const pullRequestSchema: JsonSchema = {
  type: 'object',
  description:
    'A pinned pull request, as the host shows it. Which of the properties beside `pin_order` are there is up to the host.',
  required: ['pin_order'],
  properties: {
    ...PINNED,
    draft: { type: 'boolean', description: 'whether it is not ready to be merged' },
    mergeable: { type: 'boolean' },
    merged: { type: 'boolean' },
    merged_at: TIME_OR_NULL,
    merged_by: USER_OR_NULL,
    base: { type: ['object', 'null'], description: 'where it is merged to: `label`, `ref`, `sha`, `repo_id`, `repo`' },
    head: { type: ['object', 'null'], description: 'what is merged, with the same properties' },
  },
}
