/** A label as an issue document carries it. Source: docs/behaviour.md, Issue exchange. */
export interface LabelRecord {
  /** Unique in the repository. */
  name: string
  /** A color code; its form is not checked. */
  color?: string
  description?: string
}

/** One user's reaction to an issue. Source: docs/behaviour.md, Issue exchange. */
export interface ReactionRecord {
  /** Any finite number by the schema; an import takes exact integers only. */
  user_id: number
  user_name?: string
  /** The reaction's name, any text. */
  content: string
}

/** One issue of an issue document, which is an array of them. Source: docs/behaviour.md, Issue exchange. */
export interface IssueRecord {
  /** Unique in the repository. Any finite number by the schema; an import takes exact integers from 1 up only. */
  number: number
  /** The author's id. Any finite number by the schema; an import takes exact integers only. */
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
  /** Only privileged users may change it. */
  is_locked: boolean
  /** RFC 3339 date-time. */
  created: string
  /** RFC 3339 date-time of the last change. */
  updated: string
  /** RFC 3339 date-time of the last time it was closed; a reopened issue may keep it. */
  closed?: string | null
  labels?: LabelRecord[]
  reactions?: ReactionRecord[]
  /** User names. */
  assignees?: string[]
}
