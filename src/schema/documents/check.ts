/** One violation in a document: its path (property names and array indexes), its code, and what was expected. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly code: 'required' | 'type' | 'choice' | 'date_time' | 'unknown_property'
  readonly message: string
}

/** Checks whether a value is a `T`, and reports why not. */
export interface Check<T> {
  /** What the message of a finding says. */
  readonly expected: string
  /** Whether a record may be without a property of this check. */
  readonly isOptional?: boolean
  /** Whether it is the check of an array. */
  readonly isList?: boolean
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

/** Creates a check of a text, a number or the like. @param codeOf - the code for a value that does not fit */
export function checkOfValue<T>(
  expected: string,
  fits: (value: unknown) => value is T,
  codeOf: (value: unknown) => Finding['code'] = () => 'type',
): Check<T> {
  return {
    expected,
    fits,
    *findings(value, path) {
      if (!fits(value)) yield { path, code: codeOf(value), message: expected }
    },
  }
}

/** Creates the check of a property that a record may be without. */
export function optional<T>(check: Check<T>): Check<T> {
  return { ...check, isOptional: true }
}

/** A check for each property. */
export type Properties<T> = { readonly [Name in keyof T]-?: Check<Exclude<T[Name], undefined>> }

/**
 * Creates a check of an object with these properties and no others. It reports the faults of all properties before those in
 * the lists: a document with a million faults does not produce a million findings at once.
 */
export function checkOfRecord<T>(noun: string, properties: Properties<T>): Check<T> {
  const expected = `expected ${noun} object`
  const all: readonly Property[] = Object.entries<Check<unknown>>(properties)
  const lists = all.filter(([, check]) => check.isList === true)
  const others = all.filter(([, check]) => check.isList !== true)
  const names = new Set(all.map(([name]) => name))
  const message = `unknown property, expected only ${[...names].join(', ')}`

  return {
    expected,
    fits: (value): value is T =>
      isRecord(value) &&
      all.every(([name, check]) => (name in value ? check.fits(value[name]) : check.isOptional === true)) &&
      Object.keys(value).every((name) => names.has(name)),
    *findings(value, path) {
      if (!isRecord(value)) {
        yield { path, code: 'type', message: expected }
        return
      }
      for (const property of others) yield* findingsOf(value, property, path)
      for (const name of Object.keys(value)) {
        if (!names.has(name)) yield { path: [...path, name], code: 'unknown_property', message }
      }
      for (const property of lists) yield* findingsOf(value, property, path)
    },
  }
}

type Property = readonly [name: string, check: Check<unknown>]
type Fields = Readonly<Record<string, unknown>>

function findingsOf(record: Fields, [name, check]: Property, path: Finding['path']): Iterable<Finding> {
  const at = [...path, name]
  if (name in record) return check.findings(record[name], at)
  return check.isOptional === true ? [] : [{ path: at, code: 'required', message: `missing: ${check.expected}` }]
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Creates a check of an array that checks its elements one after the other. */
export function checkOfEach<T>(check: Check<T>, expected: string): Check<T[]> {
  return {
    expected,
    isList: true,
    fits(list): list is T[] {
      if (!Array.isArray(list)) return false
      for (const at of list.keys()) if (!check.fits(list[at])) return false // a hole is an element that does not fit
      return true
    },
    *findings(list, path) {
      if (!Array.isArray(list)) {
        yield { path, code: 'type', message: expected }
        return
      }
      for (const at of list.keys()) if (!check.fits(list[at])) yield* check.findings(list[at], [...path, at])
    },
  }
}

/**
 * Formats a path of property names and array indexes as a JSON pointer. The whole document is `""`. Source: RFC 6901.
 */
export function jsonPointer(path: readonly PropertyKey[]): string {
  // ~ must be replaced first. Otherwise the ~ of the escape for / would be escaped again.
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
