import { isObject } from '../../schema/arguments.ts'
import { GHOST } from '../../schema/placeholder-names.ts'

// Conversions only rename and regroup. What they make is checked afterwards by the schema of its kind, so a foreign value of
// a wrong type is a violation there.

/** An object that another forge wrote. */
export type Foreign = { readonly [property: string]: unknown }

/** What a conversion makes of a record, before its schema has checked it. */
export type Made =
  | { readonly kind: 'label'; readonly label: unknown }
  | { readonly kind: 'milestone'; readonly milestone: unknown }
  | { readonly kind: 'issue'; readonly issue: unknown }
  | { readonly kind: 'comment'; readonly comment: unknown }

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

/** Returns whether a value is an object with all these properties. */
export function hasProperties(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => Object.hasOwn(value, name))
}

/** Returns labels for what has no property in an issue, such as `priority/high`. */
export function labelsOf(properties: Foreign): readonly Foreign[] {
  return Object.entries(filled(properties)).map(([property, value]) => {
    return { name: typeof value === 'string' ? `${property}/${value}` : value }
  })
}

/** Returns an author. One who is gone is null. @param name - the property with the name @param email - that with the address */
export function posterOf(user: unknown, name: string, email = ''): Foreign {
  if (user === null) return GHOST
  const { id: poster_id, [name]: poster_name, [email]: poster_email } = objectOf(user)
  return { poster_id, poster_name, poster_email }
}

/** Returns the names of those who are assigned, in `assignees` or alone. @param name - the property with the name */
export function assigneesOf({ assignees, assignee }: Foreign, name: string): readonly unknown[] {
  return [...new Set([...listOf(assignees), ...listOf(assignee)].map((user) => objectOf(user)[name]))]
}

/** The states that other forges call otherwise. */
const STATES: ReadonlyMap<unknown, string> = new Map(
  Object.entries({ opened: 'open', active: 'open', OPEN: 'open', CLOSED: 'closed' }),
)

/** Returns the state of an issue or a milestone. */
export function stateOf(state: unknown): unknown {
  return STATES.get(state) ?? state
}

/** Returns an issue. What is optional is left out if it is empty. @param lists - its labels, reactions and assignees */
export function issueOf(of: Foreign, { poster_id, poster_name, poster_email }: Foreign, lists: Foreign): Made {
  const { number, title, content, state, is_locked, created, updated, ref, milestone, closed } = of
  const required = { number, poster_id, poster_name, title, created, updated }
  const withDefaults = { content: content ?? '', state: stateOf(state), is_locked: is_locked ?? false }
  const optional = filled({ poster_email, ref, milestone, closed })
  return { kind: 'issue', issue: Object.assign(required, withDefaults, optional, lists) }
}

/** Returns a comment. What is optional is left out if it is empty. @param lists - its reactions */
export function commentOf(of: Foreign, { poster_id, poster_name, poster_email }: Foreign, lists: Foreign = {}): Made {
  const { issue_number, created, updated, content } = of
  const poster = { poster_id, poster_name, ...filled({ poster_email }) }
  return { kind: 'comment', comment: { issue_number, ...poster, created, updated, content: content ?? '', ...lists } }
}
