import { isObject } from '../../schema/arguments.ts'
import { isDateTime } from '../../schema/date-time.ts'
import type { Path } from '../documents/record-batch.ts'
import type { Findings } from './forge-format.ts'

/** Words for properties that are not carried, by name. A property without a word is an `unknown_property`. */
export type Words = { readonly [property: string]: string }

/** Returns the object at a path, or reports that the value is not an object. */
export function readObject(value: unknown, path: Path, findings: Findings): ForeignObject | undefined {
  if (isObject(value) && !Array.isArray(value)) return new ForeignObject(value, path, findings)

  findings.invalid(path, 'type', 'expected an object')
  return undefined
}

/**
 * An object that another forge wrote. Each property is taken once; `reportRest` reports those that were not taken, so
 * that none is lost without a word.
 */
export class ForeignObject {
  readonly path: Path
  readonly #properties: Map<string, unknown>
  readonly #findings: Findings

  constructor(value: object, path: Path, findings: Findings) {
    this.path = path
    this.#properties = new Map(Object.entries(value))
    this.#findings = findings
  }

  /** Returns whether a property has a value that says something. */
  has(name: string): boolean {
    return !isEmpty(this.#properties.get(name))
  }

  /** Takes a property that must be a text. */
  text(name: string): string {
    const value = this.take(name)
    if (typeof value === 'string') return value

    this.#invalid(name, value, 'expected a string')
    return ''
  }

  /** Takes a text that may be null or absent. Returns undefined also for an empty one. */
  optionalText(name: string): string | undefined {
    return this.#properties.get(name) === undefined ? undefined : this.textOrEmpty(name) || undefined
  }

  /** Takes a text that may be null or absent. */
  textOrEmpty(name: string): string {
    const value = this.take(name) ?? ''
    if (typeof value === 'string') return value

    this.#invalid(name, value, 'expected a string or null')
    return ''
  }

  /** Takes a property that must be a finite number. */
  number(name: string): number {
    const value = this.take(name)
    if (typeof value === 'number' && Number.isFinite(value)) return value

    this.#invalid(name, value, 'expected a finite number')
    return 0
  }

  /** Takes a property that is true, false, null or absent. */
  flag(name: string): boolean {
    const value = this.take(name) ?? false
    if (typeof value !== 'boolean') this.#invalid(name, value, 'expected true, false or null')
    return value === true
  }

  /** Takes a text that must be one of the keys. Returns the value of the key. */
  choice<T>(name: string, choices: ReadonlyMap<string, T>, otherwise: T): T {
    const value = this.take(name)
    const chosen = typeof value === 'string' ? choices.get(value) : undefined
    if (chosen !== undefined) return chosen

    const code = value === undefined ? 'required' : 'choice'
    this.#findings.invalid([...this.path, name], code, `expected one of ${[...choices.keys()].join(', ')}`)
    return otherwise
  }

  /** Takes a property that must be a date-time. */
  time(name: string): string {
    const value = this.take(name)
    if (typeof value === 'string' && isDateTime(value)) return value

    const [code, message] =
      value === undefined ? ['required', 'missing: expected a date-time'] : ['date_time', 'expected a date-time']
    this.#findings.invalid([...this.path, name], code, message)
    return ''
  }

  /** Takes a date-time that may be null or absent. */
  optionalTime(name: string): string | undefined {
    if ((this.#properties.get(name) ?? undefined) !== undefined) return this.time(name)

    this.take(name)
    return undefined
  }

  /** Takes a date that may be null or absent. Returns its first second, in UTC. */
  optionalDate(name: string): string | undefined {
    const value = this.take(name) ?? undefined
    if (value === undefined) return undefined

    const time = `${value}T00:00:00Z`
    if (!isDateTime(time)) this.#findings.invalid([...this.path, name], 'date_time', 'expected a date or null')
    return time
  }

  /** Takes a number that may be null or absent. Returns 0 then. */
  numberOrZero(name: string): number {
    return (this.#properties.get(name) ?? undefined) === undefined ? 0 : this.number(name)
  }

  /** Takes an object that may be null or absent. */
  object(name: string): ForeignObject | undefined {
    const value = this.take(name) ?? undefined
    return value === undefined ? undefined : readObject(value, [...this.path, name], this.#findings)
  }

  /** Takes a list that may be null or absent. */
  list(name: string): readonly unknown[] {
    const value = this.take(name) ?? []
    if (Array.isArray(value)) return value

    this.#invalid(name, value, 'expected a list or null')
    return []
  }

  /** Takes a list of objects that may be null or absent. */
  objects(name: string): ForeignObject[] {
    return this.list(name).flatMap(
      (value, index) => readObject(value, [...this.path, name, index], this.#findings) ?? [],
    )
  }

  /** Takes a list of texts that may be null or absent. */
  texts(name: string): string[] {
    return this.list(name).flatMap((value, index) => {
      if (typeof value === 'string') return [value]

      this.#findings.invalid([...this.path, name, index], 'type', 'expected a string')
      return []
    })
  }

  /** Takes a property of any type. */
  take(name: string): unknown {
    const value = this.#properties.get(name)
    this.#properties.delete(name)
    return value
  }

  /** Takes a property that has the same value as another one. */
  takeRepeated(name: string, value: unknown): void {
    if (this.#properties.get(name) === value) this.#properties.delete(name)
  }

  /** Takes a property, and reports a value that says something as not carried. */
  leave(what: string, name: string): void {
    const path = [...this.path, name]
    const value = this.take(name)
    if (isEmpty(value)) return
    if (!Array.isArray(value)) this.#findings.notCarried(what, path)
    else for (const index of value.keys()) this.#findings.notCarried(what, [...path, index])
  }

  /** Takes a number of things that are not carried, and reports so many. */
  leaveCount(what: string, name: string): void {
    const value = this.#properties.get(name)
    const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    if (!isCount) this.leave(what, name)
    else this.#findings.notCarried(what, [...this.path, name], value)
    this.#properties.delete(name)
  }

  /** Reports all properties that were not taken and say something. @param words - one word, or one for each property */
  reportRest(words: Words | string): void {
    const reported = new Set<string>()
    for (const [name, value] of [...this.#properties]) {
      const what = typeof words === 'string' ? words : wordOf(words, name)
      // Several addresses of one object count once.
      if (!Array.isArray(value) && (reported.has(what) || isEmpty(value))) continue
      reported.add(what)
      this.leave(what, name)
    }
  }

  #invalid(name: string, value: unknown, expected: string): void {
    const path = [...this.path, name]
    if (value === undefined) this.#findings.invalid(path, 'required', `missing: ${expected}`)
    else this.#findings.invalid(path, 'type', expected)
  }
}

function wordOf(words: Words, name: string): string {
  return (Object.hasOwn(words, name) ? words[name] : undefined) ?? 'unknown_property'
}

/** Returns whether a value is an object with all these properties. */
export function hasProperties(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => Object.hasOwn(value, name))
}

/** Returns whether a value says nothing: null, "", false, 0, and lists and objects of nothing else. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) ? Object.values(value).every(isEmpty) : !value
}
