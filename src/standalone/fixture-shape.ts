import * as z from 'zod'
import type { Violation } from '../index.ts'
import type { Fixture } from './fixture.ts'
import { pointerTo } from './fixture-node.ts'

/** The fixture when its fields and types are right, else what is wrong with them. */
export interface FixtureShape {
  readonly fixture: Fixture | undefined
  readonly violations: readonly Violation[]
}

/** Checks fields and types alone: unknown fields, missing ones, wrong types, texts of the wrong form. */
export function checkFixtureShape(value: unknown): FixtureShape {
  const result = fixtureSchema().safeParse(value)
  if (result.success) return { fixture: result.data, violations: [] }

  return { fixture: undefined, violations: result.error.issues.flatMap((issue) => violationsOf(issue, value)) }
}

function violationsOf(issue: z.core.$ZodIssue, root: unknown): readonly Violation[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField([...issue.path, key]))
  // Below what JSON can hold exactly is below the least that is asked for, too, and that is told better.
  if (issue.code === 'too_small' && issue.origin === 'int') return []

  const pointer = pointerTo(issue.path)
  if (issue.path.length > 0 && valueAt(root, issue.path) === undefined) {
    return [{ pointer, code: 'required', message: 'is required: add it' }]
  }
  return [{ pointer, code: codeOf(issue), message: messageOf(issue) }]
}

function unknownField(path: readonly PropertyKey[]): Violation {
  return { pointer: pointerTo(path), code: 'unknown_field', message: 'unknown field: remove it or correct its name' }
}

function codeOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom' && issue.params?.['code'] === 'range') return 'range'
  return CODES[issue.code] ?? 'format'
}

const CODES: { readonly [code: string]: string } = {
  invalid_type: 'type',
  invalid_value: 'choice',
  too_small: 'range',
  too_big: 'range',
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_big' && issue.origin === 'int') return `must be at most ${issue.maximum}`
  if (issue.code !== 'invalid_type') return issue.message

  return `must be ${NOUNS[issue.expected] ?? issue.expected}`
}

const NOUNS: { readonly [type: string]: string } = {
  string: 'a text',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function fixtureSchema(): z.ZodType<Fixture> {
  return z.strictObject({
    users: z.array(userSchema()).optional(),
    organizations: z.array(organizationSchema()).optional(),
    repositories: z.array(repositorySchema()).optional(),
    badges: z.array(badgeSchema()).optional(),
    signingKey: z.strictObject({ file: filled() }).optional(),
  })
}

function userSchema() {
  return z.strictObject({
    username: name(),
    fullName: line().optional(),
    email: line().optional(),
    hideEmail: z.boolean().optional(),
    siteAdmin: z.boolean().optional(),
    tokens: z.array(token()).optional(),
    visibility: visibility().optional(),
    location: line().optional(),
    website: line().optional(),
    description: text().optional(),
    createdAt: time().optional(),
  })
}

function organizationSchema() {
  return z.strictObject({
    name: name(),
    fullName: line().optional(),
    description: text().optional(),
    visibility: visibility().optional(),
    owners: z.array(z.string()).optional(),
    members: z.array(z.string()).optional(),
    blocks: z.array(z.strictObject({ user: z.string(), note: upTo255(text()).optional() })).optional(),
    createdAt: time().optional(),
  })
}

function repositorySchema() {
  return z.strictObject({
    owner: z.string(),
    name: name(),
    description: text().optional(),
    private: z.boolean().optional(),
    archived: z.boolean().optional(),
    defaultBranch: filled().optional(),
    admins: z.array(z.string()).optional(),
    writers: z.array(z.string()).optional(),
    readers: z.array(z.string()).optional(),
    labels: z.array(labelSchema()).optional(),
    issues: z.array(issueSchema()).optional(),
    pins: z.array(index()).optional(),
    createdAt: time().optional(),
  })
}

function labelSchema() {
  const color = z.string().regex(/^[0-9a-f]{6}$/i, 'must be six hexadecimal digits without "#"')
  return z.strictObject({ name: filled(), color: color.optional(), description: text().optional() })
}

function issueSchema() {
  return z.strictObject({
    index: index(),
    title: filled(),
    poster: z.string(),
    body: text().optional(),
    state: z.enum(['open', 'closed']).optional(),
    pull: z.boolean().optional(),
    branch: filled().optional(),
    locked: z.boolean().optional(),
    labels: z.array(z.string()).optional(),
    assignees: z.array(z.string()).optional(),
    comments: z.int().min(0, 'must be 0 or more').optional(),
    createdAt: time().optional(),
    updatedAt: time().optional(),
    closedAt: time().optional(),
  })
}

function badgeSchema() {
  return z.strictObject({
    slug: upTo255(filled()),
    description: text().optional(),
    imageUrl: line().optional(),
    holders: z.array(z.string()).optional(),
  })
}

/** Characters are code points, as the forge counts them. */
function upTo255(schema: z.ZodString) {
  const error = 'must not be longer than 255 characters'
  return schema.refine((value) => [...value].length <= 255, { error, params: { code: 'range' } })
}

// Not every database can keep NUL and half a surrogate pair. Source: docs/behaviour.md, Everywhere
const WELL_FORMED = 'must be well-formed Unicode, without half a surrogate pair'

function text() {
  return z
    .string()
    .refine((value) => !value.includes('\0'), 'must not contain NUL')
    .refine(isWellFormed, WELL_FORMED)
}

function line() {
  return z
    .string()
    .regex(/^\P{Cc}*$/u, 'must be one line of text, without NUL and other control characters')
    .refine(isWellFormed, WELL_FORMED)
}

function isWellFormed(value: string): boolean {
  return value.isWellFormed()
}

function filled() {
  return line().min(1, 'must not be empty')
}

function name() {
  // What fits a path segment as it is: clients put names into paths unencoded.
  return z
    .string()
    .max(100, 'must not be longer than 100 characters')
    .regex(
      /^(?!\.{1,2}$)[^\s/\\?#%\p{Cc}]+$/u,
      'must be a name without blanks, slashes, control characters (NUL too), "?", "#" or "%"',
    )
    .refine(isWellFormed, WELL_FORMED)
}

function token() {
  return z.string().regex(/^[\x21-\x7e]+$/, 'must be a token of visible ASCII characters without blanks')
}

function visibility() {
  return z.enum(['public', 'limited', 'private'])
}

function index() {
  return z.int().min(1, 'must be 1 or more')
}

function time() {
  return z.iso.datetime({ offset: true, error: 'must be a date-time such as 2026-01-31T09:30:00Z' })
}
