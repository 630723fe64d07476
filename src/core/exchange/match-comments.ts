import { canonicalDateTime } from '../../schema/date-time.ts'
import type { CommentRecord } from '../../schema/issue-record.ts'
import { isGhost } from '../../schema/placeholder-names.ts'
import type { WithPeople } from './incoming.ts'
import type { Accounts } from './people.ts'

/** A comment that the host has. */
export interface StoredComment extends WithPeople<CommentRecord> {
  /** The object that the tracker returned. */
  readonly stored: CommentRecord
}

/**
 * Finds the comments of a document among those that the host has. Each stored comment is found for one of the document, so
 * that two people who write the same in the same second stay two. Source: docs/behaviour.md, Exchange
 */
export class CommentMatcher {
  readonly #accounts: Accounts
  /** The comments that the host has of one time in one issue. */
  readonly #stored = new Map<string, StoredComment[]>()
  readonly #found = new Set<StoredComment>()
  /** What identifies the comments that the host has, or has when the batch is written. */
  readonly #known = new Set<string>()

  constructor(stored: readonly StoredComment[], accounts: Accounts) {
    this.#accounts = accounts
    for (const comment of stored) {
      const moment = momentOf(comment.record)
      const others = this.#stored.get(moment)
      if (others === undefined) this.#stored.set(moment, [comment])
      else others.push(comment)
      this.#know(comment)
    }
  }

  /** Returns whether the host has the comment by the same author, or the document had it before. */
  isKnown(comment: WithPeople<CommentRecord>): boolean {
    const isKnown = this.#identities(comment).some((identity) => this.#known.has(identity))
    const { content } = comment.record
    if (isKnown) this.#find(comment, (one) => one.record.content === content && this.#isBySame(comment, one))
    else this.#know(comment)
    return isKnown
  }

  /** Returns whether the host has the comment, and its author has deleted the account in between. */
  isOfDeleted(comment: WithPeople<CommentRecord>): boolean {
    const isDeleted = isGhost(comment.poster.original)
    const { content } = comment.record
    const found = this.#find(
      comment,
      ({ poster, record }) => record.content === content && (isDeleted || isGhost(poster.original)),
    )
    return found !== undefined
  }

  /**
   * Returns the comment of the host of which this one is a later version. Undefined if the host has several by the author
   * of that time: any of them may be the one.
   */
  editedFrom(comment: WithPeople<CommentRecord>): StoredComment | undefined {
    const [one, ...others] = this.#at(comment).filter((each) => this.#isBySame(comment, each))
    if (one === undefined || others.length > 0) return undefined
    const isLater = Date.parse(one.record.updated) < Date.parse(comment.record.updated)
    return isLater ? this.#find(comment, (each) => each === one) : undefined
  }

  #at(comment: WithPeople<CommentRecord>): readonly StoredComment[] {
    return this.#stored.get(momentOf(comment.record)) ?? []
  }

  #find(comment: WithPeople<CommentRecord>, fits: (one: StoredComment) => boolean): StoredComment | undefined {
    const found = this.#at(comment).find((one) => !this.#found.has(one) && fits(one))
    if (found !== undefined) this.#found.add(found)
    return found
  }

  #know(comment: WithPeople<CommentRecord>): void {
    for (const identity of this.#identities(comment)) this.#known.add(identity)
  }

  #identities(comment: WithPeople<CommentRecord>): readonly string[] {
    const { content } = comment.record
    return this.#authors(comment).map((author) => JSON.stringify([momentOf(comment.record), author, content]))
  }

  #isBySame(one: WithPeople<CommentRecord>, other: WithPeople<CommentRecord>): boolean {
    const authors = new Set(this.#authors(one))
    return this.#authors(other).some((author) => authors.has(author))
  }

  /**
   * Returns the texts that identify the author: the account, and the id, which stays when the author is renamed. Without an
   * id, the name identifies the author, and so does the name that a map has replaced.
   */
  #authors({ poster }: WithPeople<CommentRecord>): readonly string[] {
    const { user, original } = poster
    const { id = 0, name } = user
    const account = this.#accounts.idOf(poster)
    return [
      ...(id > 0 ? [`id ${id}`] : [name, original].map((each) => `name ${id} ${each}`)),
      ...(account === null ? [] : [`account ${account}`]),
    ]
  }
}

/** Returns the issue and the time of a comment, which are the same in a document and on the host, however the time is written. */
export function momentOf({ issue_number, created }: CommentRecord): string {
  return `${issue_number} ${canonicalDateTime(created)}`
}
