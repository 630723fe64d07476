import { z } from 'zod'
import type { Definition, RecordDefinition } from './definitions.ts'

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

/** Creates a check from a definition of one level. Each unknown property is one finding. */
function checkOf<T>(definition: Definition<T>): Check<T> {
  return {
    fits: (value): value is T => definition.validate(value),
    *findings(value, path) {
      for (const issue of definition.safeParse(value).error?.issues ?? []) yield* translate(issue, value, path)
    },
  }
}

/** A check of a text, a number or the like. */
interface ValueCheck<T> extends Check<T> {
  /** Returns what is wrong with a value that does not fit. */
  fault(value: unknown): Finding | undefined
}

/**
 * Creates a check from the definition of a text, a number or the like. It reports what the definition does. Each finding
 * of the definition itself costs as much as a hundred checks, so each is asked for once, here: how a text does not fit,
 * and how another value does not.
 */
export function checkOfValue<T>(definition: Definition<T>): ValueCheck<T> {
  const { fits, findings } = checkOf(z.compile(definition))
  const [text] = findings('', [])
  const [other] = findings(undefined, [])
  const fault = (value: unknown): Finding | undefined => (typeof value === 'string' ? text : other)
  return {
    fits,
    fault,
    *findings(value, path) {
      const found = fits(value) ? undefined : fault(value)
      if (found !== undefined) yield { path, code: found.code, message: found.message }
    },
  }
}

/**
 * Creates a check from the definition of an object of one level, whose properties are texts, numbers and the like. It
 * reports what the definition does, and asks it once how each property is missing.
 */
export function checkOfRecord<T>(definition: RecordDefinition<T>): Check<T> {
  const whole = checkOf(z.compile(definition))
  const probe = [...whole.findings({ '': null }, [])]
  const unknown = probe.find(({ code }) => code === 'unknown_property')
  const properties = Object.entries(definition.shape).map(([name, property]) => {
    const { fits, fault } = checkOfValue(property)
    const missing = probe.find(({ code, path }) => code === 'required' && path[0] === name)
    return { name, fits, fault, missing }
  })
  const names = new Set(properties.map(({ name }) => name))

  function faults(value: object, path: Finding['path']): readonly Finding[] {
    const found: Finding[] = []
    for (const { name, fits, fault, missing } of properties) {
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: undefined if there is no such property
      const inner: unknown = value[name as keyof typeof value]
      if (fits(inner)) continue
      const finding = name in value ? fault(inner) : missing
      if (finding !== undefined) found.push({ path: [...path, name], code: finding.code, message: finding.message })
    }
    if (unknown === undefined) return found
    const { code, message } = unknown
    for (const name of Object.keys(value)) if (!names.has(name)) found.push({ path: [...path, name], code, message })
    return found
  }

  return {
    fits: whole.fits,
    *findings(value, path) {
      if (whole.fits(value)) return
      const found = typeof value === 'object' && value !== null && !Array.isArray(value) ? faults(value, path) : []
      yield* found.length > 0 ? found : whole.findings(value, path)
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
  let pointer = ''
  for (const step of path) pointer += `/${typeof step === 'string' ? escapeStep(step) : String(step)}`
  return pointer
}

// ~ must be replaced first. Otherwise the ~ of the escape for / would be escaped again.
function escapeStep(step: string): string {
  return step.includes('~') || step.includes('/') ? step.replaceAll('~', '~0').replaceAll('/', '~1') : step
}
