import { isValidDate } from '../../schema/realms.ts'

/** Returns a copy of records. In Jest, `structuredClone` returns objects of another realm, whose times are not instances of Date. */
export function copyOf<T>(records: T): T {
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: a copy has the type of what it copies
  return copied(records) as T
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copied)
  if (isValidDate(value)) return new Date(value)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copied(part)]))
}
