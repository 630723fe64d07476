import type { Id } from '../../schema/ids.ts'
import type { CommentRecord, IssueRecord, ReactionRecord } from '../../schema/issue-record.ts'
import type { ForeignUser } from './issue-tracker.ts'

/** Returns the author of an issue or a comment. */
export function posterOf({ poster_id, poster_name, poster_email }: IssueRecord | CommentRecord): ForeignUser {
  return { id: poster_id, name: poster_name, email: poster_email }
}

/** Returns the user of a reaction. */
export function reactorOf({ user_id, user_name = '' }: ReactionRecord): ForeignUser {
  return { id: user_id, name: user_name, email: undefined }
}

/** Returns an assignee. */
export function assigneeOf(name: string): ForeignUser {
  return { id: undefined, name, email: undefined }
}

/** The accounts of people, as far as they were looked up. */
export class Accounts {
  readonly #ids = new Map<string, Id | null>()

  add(person: ForeignUser, id: Id | null): void {
    this.#ids.set(keyOf(person), id)
  }

  /** Returns the account of a person. Null: no one here, or not looked up. */
  idOf(person: ForeignUser | undefined): Id | null {
    return person === undefined || this.#ids.size === 0 ? null : (this.#ids.get(keyOf(person)) ?? null)
  }
}

/** Returns people without repetitions and without those who have no name, whom no host can find. */
export function distinctPeople(people: Iterable<ForeignUser | undefined>): readonly ForeignUser[] {
  const distinct = new Map<string, ForeignUser>()
  for (const person of people) if (person !== undefined && person.name !== '') distinct.set(keyOf(person), person)
  return [...distinct.values()]
}

// No text that is imported contains NUL.
function keyOf({ id, name, email }: ForeignUser): string {
  return `${id ?? ''}\0${name}\0${email ?? ''}`
}
