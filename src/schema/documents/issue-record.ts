/** A label in an issue document. Source: docs/behaviour.md, Issue exchange. */
export interface LabelRecord {
  /** Unique in the repository. */
  name: string
  /** A color code. Its format is not checked. */
  color?: string
  description?: string
}

/** One user's reaction to an issue. Source: docs/behaviour.md, Issue exchange. */
export interface ReactionRecord {
  /** The schema allows any finite number; an import accepts only exact integers. */
  user_id: number
  user_name?: string
  /** The name of the reaction. Any text is allowed. */
  content: string
}

/** One issue of an issue document, which is an array of issues. Source: docs/behaviour.md, Issue exchange. */
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
