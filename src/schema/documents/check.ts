import type { z } from 'zod'
import type { Definition } from './definitions.ts'

/** One violation in a document: its path (property names and array indexes), its code, and what was expected. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly code: 'required' | 'type' | 'choice' | 'date_time' | 'unknown_property'
  readonly message: string
}

/** Checks whether a value is a `T`, and reports why not. */
export interface Check<T> {
  /** Returns whether the value is a `T`. Fast: it creates no findings. */
  fits(value: unknown): value is T
  /** Yields the findings of the value at this path, each computed on demand. Yields none if the value fits. */
  findings(value: unknown, path: Finding['path']): Iterable<Finding>
}

/** Returns the first findings of a value, in order. Stops checking after the last of them. */
export function firstFindings(check: Check<unknown>, value: unknown, limit: number): readonly Finding[] {
  const first: Finding[] = []
  for (const finding of check.findings(value, [])) {
    first.push(finding)
    if (first.length === limit) break
  }
  return first
}

/**
 * Creates a check from a definition of one level: a text, or an object of them. Each unknown property is one finding.
 */
export function checkOf<T>(definition: Definition<T>): Check<T> {
  return {
    fits: (value): value is T => definition.validate(value),
    *findings(value, path) {
      for (const issue of definition.safeParse(value).error?.issues ?? []) yield* translate(issue, value, path)
    },
  }
}

/** Creates a check of an array that checks its elements one after the other. */
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

// Iterates by index, because a hole is also an element that does not fit.
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

/**
 * Formats a path of property names and array indexes as a JSON pointer. The whole document is `""`. Source: RFC 6901.
 */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${escapeStep(String(step))}`).join('')
}

// ~ must be replaced first. Otherwise the ~ of the escape for / would be escaped again.
function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}
