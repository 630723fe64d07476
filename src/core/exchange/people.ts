import type { Id } from '../../schema/ids.ts'
import type { ForeignUser } from './issue-tracker.ts'

/** A person whom a record names. */
export interface Person {
  readonly user: ForeignUser
  /** The name in the record, which a map may have replaced. */
  readonly original: string
  /** Whether the person may have an account here. */
  readonly mayHaveAccount: boolean
  /** Whether the accounts are searched for the name: not for one that was made up, unless the map names it. */
  readonly isSought: boolean
}

/** The accounts of people, as far as they were looked up. */
export class Accounts {
  readonly #ids = new Map<string, Id | null>()

  add(user: ForeignUser, id: Id | null): void {
    this.#ids.set(keyOf(user), id)
  }

  /** Returns the account of a person. Null: no one here, or not looked up. */
  idOf({ user, isSought }: Person): Id | null {
    return (isSought && this.#ids.size > 0 && this.#ids.get(keyOf(user))) || null
  }
}

/** Returns those who are looked up, without repetitions. */
export function soughtUsers(people: Iterable<Person>): readonly ForeignUser[] {
  const users = new Map<string, ForeignUser>()
  for (const { user, isSought } of people) if (isSought) users.set(keyOf(user), user)
  return [...users.values()]
}

// No text that is imported contains NUL.
function keyOf({ id, name, email }: ForeignUser): string {
  return `${id ?? ''}\0${name}\0${email ?? ''}`
}
