import type { ActionFacts } from '../access.ts'
import type { Id, IdInput } from '../ids.ts'

/** The two kinds of pin board that a repository has. Each has its own limit. */
export type PinKind = 'issue' | 'pullRequest'

/**
 * A reference to one of the host's issues or pull requests. It is trusted: the host has looked it up. An id is
 * never used twice, not even by an issue and a pull request.
 */
export interface IssueRef {
  readonly id: IdInput
  readonly repositoryId: IdInput
  readonly kind: PinKind
}

/** A pinned issue or pull request. `position` is its 1-based position on the board. */
export interface Pin {
  readonly issueId: Id
  readonly position: number
  readonly pinnedAt: Date
  readonly pinnedBy: Id | null
}

/** The events of pins. */
export interface PinEvents {
  /** `pins.pin` pinned an issue, at the end of its board. Subject: repository, issue. */
  'issue.pinned': { readonly position: number }
  /** `pins.unpin` removed an issue from its board; `position` is where it was. Subject: repository, issue. */
  'issue.unpinned': { readonly position: number }
  /** `pins.move` changed the position of a pin. Subject: repository, issue. */
  'issue.moved': { readonly from: number; readonly to: number }
}

/** What the methods of pins ask the policy for. */
export interface PinAccess {
  readonly action: 'pins.read' | 'pins.write'
  readonly repositoryId: Id
}

export const pinActions: ActionFacts<PinAccess> = {
  'pins.read': { concerns: 'repository', allows: 'repository reader' },
  'pins.write': { concerns: 'repository', allows: 'repository admin' },
}
