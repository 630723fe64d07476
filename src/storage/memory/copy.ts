import { isValidDate } from '../../schema/realms.ts'

/** Returns a copy of records. In Jest, what `structuredClone` returns is of another realm: its times are no instances of Date there. */
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
