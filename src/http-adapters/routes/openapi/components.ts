import { badgeSlugsSchema } from '../inputs/badge-slugs-input.ts'
import type { JsonSchema, SchemaName } from '../json-schema.ts'
import { replyHeaders } from '../reply-headers.ts'
import { badgeSchema } from '../wire/badge-json.ts'
import { errorSchema, violationSchema } from '../wire/error-json.ts'
import { issueSchema, pullRequestSchema } from '../wire/issue-schema.ts'
import { pinsAllowedSchema } from '../wire/pins-allowed-json.ts'
import { userSchema } from '../wire/user-schema.ts'
import { securitySchemes } from './security.ts'

const SCHEMAS: Readonly<Record<SchemaName, JsonSchema>> = {
  Badge: badgeSchema,
  BadgeSlugs: badgeSlugsSchema,
  Error: errorSchema,
  Issue: issueSchema,
  PinsAllowed: pinsAllowedSchema,
  PullRequest: pullRequestSchema,
  User: userSchema,
  Violation: violationSchema,
}

/** What a document shares, and nothing that the paths, or what they refer to, do not name. */
export function componentsFor(paths: object): object {
  return {
    securitySchemes,
    headers: named(replyHeaders, referredTo(paths, 'headers')),
    schemas: named(SCHEMAS, reach(referredTo(paths, 'schemas'))),
  }
}

function referredTo(part: object, kind: 'headers' | 'schemas'): readonly string[] {
  const references = JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)
  return [...references].flatMap(([, of, name]) => (of === kind && name !== undefined ? name : []))
}

/** The schemas of these names, and those that they refer to. */
function reach(names: readonly string[], known: ReadonlySet<string> = new Set()): readonly string[] {
  const fresh = new Set(names.filter((name) => !known.has(name)))
  if (fresh.size === 0) return [...known]
  return reach(referredTo(named(SCHEMAS, [...fresh]), 'schemas'), new Set([...known, ...fresh]))
}

function named<T>(all: Readonly<Record<string, T>>, names: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}
