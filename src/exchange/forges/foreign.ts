import { isObject } from '../../schema/arguments.ts'
import type { Findings, Foreign, Made } from './forge-format.ts'

// Conversions only rename and regroup. What they make is checked afterwards by the schema of its kind, so a foreign value of
// a wrong type is a violation there.

/** Returns whether a value is an object and not a list. */
export function isForeign(value: unknown): value is Foreign {
  return isObject(value) && !Array.isArray(value)
}

/** Returns a value that is an object, and an empty object for every other value. */
export function objectOf(value: unknown): Foreign {
  return isForeign(value) ? value : {}
}

/** Returns the text of a value of JSON; none of an object, which may have a `toString` of its own. */
export function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? '' : String(value)
}

/** Returns the elements of a list that may be null or absent. A value that is no list is an element. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === null || value === undefined ? [] : [value]
}

/** Returns the properties that are neither null nor empty. */
export function filled(properties: Foreign): Foreign {
  const result: { [property: string]: unknown } = {}
  for (const name in properties) if ((properties[name] ?? '') !== '') result[name] = properties[name]
  return result
}

/** Returns whether a value says something. Null, "", false, 0, and lists and objects of nothing else do not. */
export function says(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? Object.values(value).some(says) : Boolean(value)
}

/** Returns labels for what has no property in an issue, such as `priority/high`. */
export function labelsOf(properties: Foreign): readonly Foreign[] {
  return Object.entries(filled(properties)).map(([property, value]) => {
    return { name: typeof value === 'string' ? `${property}/${value}` : value }
  })
}

/** Ids, addresses and counters of the forge: nothing of an issue is lost with them. Whom `closed_by_id` names is lost. */
const OF_THE_FORGE = /(?:^|(?<!_by|_to)_)(?:id|ids|iid|url|count|index|version|score|issues)$/

/** Relations of an issue. An id, an address or a count is lost if the record has nothing else of the relation. */
const RELATION = /(?:^|_)(?:parent|epic|sub_issues|blocking_issues)(?:_|$)/
/** Only the address of a parent says that an issue is part of another one. */
const PARENT = /^parent(?:_issue)?_(?:id|iid|url)$/

/** Reports the properties that a conversion did not name, by their own names. */
export function leaveRest(rest: Foreign, findings: Findings): void {
  for (const name in rest) {
    const value = rest[name]
    if (!says(value) || (OF_THE_FORGE.test(name) && !isOnlyTrace(name, rest))) continue
    const what = PARENT.test(name) ? 'parent' : name
    findings.notCarried(what, [name], Array.isArray(value) ? value.length : 1)
  }
}

/** Returns whether a record says only by this property that it has a relation. */
function isOnlyTrace(name: string, record: Foreign): boolean {
  if (!RELATION.test(name)) return false
  const whole = name.replace(/_(?:id|ids|iid|url|count)$/, '')
  return whole === name || !says(record[whole])
}

/** Returns whether a value is an object with all these properties. */
export function hasProperties(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => Object.hasOwn(value, name))
}

/** Returns an issue. What is optional is left out if it is empty. @param lists - its labels, reactions and assignees */
export function issueOf(of: Foreign, { poster_id, poster_name, poster_email }: Foreign, lists: Foreign): Made {
  const { number, title, content, state, is_locked, created, updated, ref, milestone, closed } = of
  const known = { number, poster_id, poster_name, title, content: content ?? '', state, created, updated }
  const optional = filled({ poster_email, ref, milestone, closed })
  return { kind: 'issue', issue: Object.assign(known, { is_locked: is_locked ?? false }, optional, lists) }
}

/** Returns a comment. What is optional is left out if it is empty. @param lists - its reactions */
export function commentOf(of: Foreign, { poster_id, poster_name, poster_email }: Foreign, lists: Foreign = {}): Made {
  const { issue_number, created, updated, content } = of
  const poster = { poster_id, poster_name, ...filled({ poster_email }) }
  return { kind: 'comment', comment: { issue_number, ...poster, created, updated, content: content ?? '', ...lists } }
}
