import type { Actor, Forge, IdInput, IssueTracker, MaybePromise } from '../../index.ts'

/** A host whose tracker is tested: new for each case, with an empty repository. */
export interface TrackerHost<A extends Actor, Tx> {
  /** A forge whose option `issues` is the tracker. */
  readonly forge: Pick<Forge<A, Tx>, 'exchange'>
  readonly tracker: IssueTracker<A, Tx>
  /** A repository without issues, labels and milestones. */
  readonly repositoryId: IdInput
  /** Two users of the host, by the name that a document has for them. */
  readonly users: readonly [TrackerUser, TrackerUser]
  /** Creates an issue as a user of the host does, and returns its number. */
  createIssue(): MaybePromise<number>
  /** Begins a transaction of the host, runs the work in it, and rolls it back. */
  rolledBack(work: (transaction: Tx) => MaybePromise<void>): Promise<void>
  /** What its issues cannot have, so that an import loses it. The cases do not ask for that. Default: they have both. */
  readonly lacks?: readonly ('milestones' | 'reactions')[] | undefined
  /** Called when the case is over. */
  close(): Promise<void>
}

/** A user of the host. */
export interface TrackerUser {
  readonly id: IdInput
  readonly name: string
}

/** One requirement. A host without what it needs meets it. */
export interface TrackerCase {
  readonly name: string
  /** The advice to print if the case fails. */
  readonly fix: string
  readonly needs?: 'comments' | 'attribution' | 'labelsAndMilestones' | 'reserveNumbers'
  check<A extends Actor, Tx>(host: TrackerHost<A, Tx>): Promise<void>
}
