import type { Violation } from '../../../schema/errors.ts'
import { ForgeError, invalidInput } from '../../../schema/errors.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import { textFault, violationsIn } from '../../../schema/text.ts'
import { readJson } from '../body.ts'
import type { JsonSchema } from '../json-schema.ts'
import { refTo } from '../json-schema.ts'
import type { ApiRequest } from '../messages.ts'
import type { Input } from '../route.ts'

const KEY = 'badge_slugs'
/** In characters (code points). */
const MAX_SLUG_LENGTH = 255

/** The schema of a body with slugs. */
export const badgeSlugsSchema: JsonSchema = {
  type: 'object',
  required: [KEY],
  properties: {
    [KEY]: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: MAX_SLUG_LENGTH },
      description: 'slugs of badges; either all are applied, or none',
    },
  },
  examples: [{ [KEY]: ['night-owl'] }],
}

/** The slugs in a body `{"badge_slugs": ["a", "b"]}`. Source: docs/behaviour.md, Badges */
export const badgeSlugsInBody: Input<readonly string[]> = {
  parameters: [],
  body: { description: 'the slugs of the badges', schema: refTo('BadgeSlugs') },
  errors: ['INVALID_INPUT', 'BODY_TOO_LARGE'],
  read: ({ request, settings }) => readSlugs(request, settings.limits.maxBodyBytes),
}

function readSlugs(request: ApiRequest, limit: number): MaybePromise<readonly string[]> {
  return after(readJson(request, limit), slugsIn)
}

function slugsIn(body: unknown): readonly string[] {
  const list = listIn(body)
  const violations = violationsIn(list, violationOf)
  const [first] = violations
  if (first !== undefined) throw refusal(first, violations)

  return list.filter(isSlug)
}

function listIn(body: unknown): readonly unknown[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidInput('', 'type', 'the body must be a JSON object')
  }

  const list = KEY in body ? body[KEY] : undefined
  if (Array.isArray(list)) return list
  const isMissing = list === undefined || list === null
  const violation = { pointer: `/${KEY}`, code: isMissing ? 'required' : 'type', message: 'must be a list of slugs' }
  throw refusal(violation, [violation])
}

/**
 * Prefixes the error's message with the pointer of the first violation. A violation's own message does not need it,
 * because its pointer is a separate field.
 */
function refusal({ pointer, message }: Violation, violations: readonly Violation[]): ForgeError {
  return new ForgeError('INVALID_INPUT', `${pointer}: ${message}`, { violations })
}

function violationOf(slug: unknown, index: number): Violation | undefined {
  const pointer = `/${KEY}/${index}`
  if (!isSlug(slug)) {
    const code = slug === '' ? 'required' : 'type'
    return { pointer, code, message: 'must be a non-empty string' }
  }

  const fault = textFault(slug, MAX_SLUG_LENGTH)
  return fault && { pointer, ...fault }
}

function isSlug(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
