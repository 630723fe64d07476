import type { z } from 'zod'
import type { Definition } from './definitions.ts'

/** One thing that is wrong with a document: property names and array indexes down to it, what kind, and what was expected. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly code: 'required' | 'type' | 'choice' | 'date_time' | 'unknown_property'
  readonly message: string
}

/** Tells whether a value is a `T`, and if not, why. */
export interface Check<T> {
  /** Quick, and builds nothing. */
  fits(value: unknown): value is T
  /** What is wrong with the value that stands at this path; each is looked for when the reader asks for it. None when it fits. */
  findings(value: unknown, path: Finding['path']): Iterable<Finding>
}

/** The first findings of a value, in order; nothing is checked beyond the last of them. */
export function firstFindings(check: Check<unknown>, value: unknown, limit: number): readonly Finding[] {
  const first: Finding[] = []
  for (const finding of check.findings(value, [])) {
    first.push(finding)
    if (first.length === limit) break
  }
  return first
}

/** Checks by a definition of one level: a text, or an object of such. Every unknown property is a finding of its own. */
export function checkOf<T>(definition: Definition<T>): Check<T> {
  return {
    fits: (value): value is T => definition.validate(value),
    *findings(value, path) {
      for (const issue of definition.safeParse(value).error?.issues ?? []) yield* translate(issue, value, path)
    },
  }
}

/** Checks the elements of an array, one after the other. */
export function checkOfEach<T>(check: Check<T>, expected: string): Check<T[]> {
  return {
    fits: (list): list is T[] => Array.isArray(list) && firstMisfit(list, check, 0) === list.length,
    *findings(list, path) {
      if (!Array.isArray(list)) {
        yield { path, code: 'type', message: expected }
        return
      }

      for (let at = firstMisfit(list, check, 0); at < list.length; at = firstMisfit(list, check, at + 1)) {
        yield* check.findings(list[at], [...path, at])
      }
    },
  }
}

// By index: a hole is an element too, one that JSON cannot express.
function firstMisfit(list: readonly unknown[], check: Check<unknown>, from: number): number {
  let at = from
  while (at < list.length && check.fits(list[at])) at += 1
  return at
}

function* translate(issue: z.core.$ZodIssue, value: unknown, path: Finding['path']): Generator<Finding, void, void> {
  const at = [...path, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) yield { path: [...at, key], code: 'unknown_property', message: issue.message }
  } else if (isMissing(value, issue.path[0])) {
    yield { path: at, code: 'required', message: `missing: ${issue.message}` }
  } else {
    yield { path: at, code: codeOf(issue), message: issue.message }
  }
}

function isMissing(value: unknown, property: PropertyKey | undefined): boolean {
  return property !== undefined && typeof value === 'object' && value !== null && !(property in value)
}

function codeOf(issue: z.core.$ZodIssue): Finding['code'] {
  if (issue.code === 'invalid_format') return 'date_time'
  return issue.code === 'invalid_value' ? 'choice' : 'type'
}

/** Writes a path of property names and array indexes as a JSON pointer; the whole document is `""`. Source: RFC 6901. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${escapeStep(String(step))}`).join('')
}

// ~ first, or the ~ of the escape for / would be escaped again
function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}
