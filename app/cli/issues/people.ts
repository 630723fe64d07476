import type { ImportReport } from 'forgelet'
import { CommandError } from '../command.ts'
import { readDataFile } from '../files.ts'

/** Reads the value of `--users`: names, and names of accounts. @throws CommandError with the documented exit code */
export async function readUsers(file: string): Promise<{ readonly [name: string]: string | null }> {
  const value = await readDataFile('users', file, 2)
  if (isUsers(value)) return value
  throw new CommandError(1, `users ${file} is not valid: give a map of names to names, or to null`)
}

function isUsers(value: unknown): value is { readonly [name: string]: string | null } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((name) => name === null || (typeof name === 'string' && name !== ''))
}

/** Returns counts as a line, such as "3 created, 0 updated". */
export function counts<K extends string>(all: Readonly<Record<K, number>>): string {
  return Object.entries<number>(all)
    .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    .join(', ')
}

/** Returns who has no account as a line, such as "no account here, kept as names: ada (3), and 7 more". Empty: no one. */
export function withoutAccount({ total, first }: ImportReport['unknownUsers']): readonly string[] {
  if (total === 0) return []

  const people = first.map(({ name, count }) => `${name} (${count.toLocaleString('en')})`)
  const rest = total - people.length
  const unknown = [...people, ...(rest > 0 ? [`and ${rest.toLocaleString('en')} more`] : [])].join(', ')
  return [`no account here, kept as names: ${unknown}`]
}
