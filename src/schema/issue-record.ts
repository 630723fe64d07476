import type { Violation } from './violation.ts'

/** A label in an issue document. Source: docs/behaviour.md, Exchange. */
export interface LabelRecord {
  /** Unique in the repository. */
  name: string
  /** A color code. Its format is not checked. */
  color?: string
  description?: string
}

/** One user's reaction to an issue. Source: docs/behaviour.md, Exchange. */
export interface ReactionRecord {
  /** The schema allows any finite number; an import accepts only exact integers. */
  user_id: number
  user_name?: string
  /** The name of the reaction. Any text is allowed. */
  content: string
}

/** One issue of an issue document, which is an array of issues. Source: docs/behaviour.md, Exchange. */
export interface IssueRecord {
  /** Unique in the repository. The schema allows any finite number; an import accepts only exact integers from 1 up. */
  number: number
  /** The author's id. The schema allows any finite number; an import accepts only exact integers. */
  poster_id: number
  poster_name: string
  poster_email?: string
  title: string
  content: string
  /** The target branch. */
  ref?: string
  /** The milestone's name. */
  milestone?: string
  /** `closed`: no further activity is expected. */
  state: 'open' | 'closed'
  /** Whether only privileged users may change the issue. */
  is_locked: boolean
  /** RFC 3339 date-time of the creation. */
  created: string
  /** RFC 3339 date-time of the last change. */
  updated: string
  /** RFC 3339 date-time of when the issue was last closed. A reopened issue may keep it. */
  closed?: string | null
  labels?: LabelRecord[]
  reactions?: ReactionRecord[]
  /** The names of the users the issue is assigned to. */
  assignees?: string[]
}

/** A milestone of a repository. An issue names its milestone by this title. Source: docs/exchange.md, Records */
export interface MilestoneRecord {
  title: string
  description?: string
  /** RFC 3339 date-time of when it is due. */
  deadline?: string | null
  created?: string
  updated?: string
  /** RFC 3339 date-time of when it was closed. */
  closed?: string | null
  state: 'open' | 'closed'
}

/** A comment on an issue, with the properties that a Gitea dump has. Source: docs/exchange.md, Records */
export interface CommentRecord {
  /** The number of the issue. */
  issue_number: number
  poster_id: number
  poster_name: string
  poster_email?: string
  created: string
  updated: string
  content: string
  reactions?: readonly ReactionRecord[]
}

/**
 * One record of an exchange. Labels and milestones precede the issues that name them, and the comments of an issue
 * follow it.
 */
export type ExchangeRecord =
  | { readonly kind: 'label'; readonly label: LabelRecord }
  | { readonly kind: 'milestone'; readonly milestone: MilestoneRecord }
  | { readonly kind: 'issue'; readonly issue: IssueRecord }
  | { readonly kind: 'comment'; readonly comment: CommentRecord }

/**
 * Records of a source that know where they are in it. An import uses this to report the positions of what it refuses.
 * Source: docs/exchange.md, Errors
 */
export interface RecordLocator {
  /** Returns the position of the record that was yielded last. Undefined: it has none. */
  position(): SourcePosition | undefined
  /** Returns the greatest number of the pull requests and issues that were left out so far. 0: none. */
  greatestLeftOut(): number
}

/** The position of a record in a source. `pointer` is its index, such as `/17`. */
export type SourcePosition = Pick<Violation, 'pointer' | 'offset' | 'line' | 'file'>

/**
 * A part of a source for which a record has no property. `what` is a word such as `pull_request` or `attachment`.
 * Source: docs/exchange.md, What is not carried
 */
export interface NotCarried {
  readonly what: string
  readonly count: number
  /** A JSON pointer to the first one. */
  readonly pointer: string
  /** The file that it points into, if the source has several. */
  readonly file?: string
  /**
   * Of `user_name`: what users are called of whom the source has only the id, and their displayed names, as far as it has
   * them. The first hundred.
   */
  readonly people?: readonly { readonly name: string; readonly displayed: string }[]
}
