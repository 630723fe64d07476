import type { ExchangeRecord } from '../../schema/issue-record.ts'
import { NumberSet } from '../../schema/number-set.ts'
import type { Foreign } from './foreign.ts'

/** What is left out of a source, unless it is kept. */
export interface ConversionOptions {
  /** Records that not every reader of their forge may see. Default 'leave-out': they are reported as not carried. */
  readonly confidential?: 'leave-out' | 'keep' | undefined
  /** Comments that GitHub folds away, such as spam. Default 'leave-out'. They are reported as not carried in any case. */
  readonly minimized?: 'leave-out' | 'keep' | undefined
  /** The repository to read, as `owner/name`, if the source has several. Default: the only one. */
  readonly sourceRepository?: string | undefined
}

/**
 * What the conversions of one source share: what was asked for, and what they remember of its records. Labels, milestones and
 * issues are remembered when they were carried: an issue that is not valid must not take its milestone with it.
 */
export class ConversionState {
  readonly options: ConversionOptions
  /** The names of the files in the folder of the issues, in order. A list alone has none. */
  files: ReadonlySet<string> = new Set()
  /** By their names, and of milestones by their titles. */
  readonly labels: Map<unknown, Foreign> = new Map()
  readonly milestones: Map<unknown, Foreign> = new Map()
  readonly #issues = new NumberSet()
  readonly #pulls = new NumberSet()
  /** The greatest number of the pull requests and issues that were left out. */
  greatestLeftOut = 0
  /** What a record says for later ones, by the id or the address that they have of it: the users of a forge, for example. */
  readonly known: Map<unknown, unknown> = new Map()
  /** What users are called of whom the source has only the id, and the displayed names of users who are called so. */
  readonly nameless: Set<string> = new Set()
  readonly displayed: Map<string, string> = new Map()
  readonly #threads = new Set<unknown>()
  #threadsOf: unknown

  constructor(options: ConversionOptions) {
    this.options = options
  }

  /** Returns whether the issue of this number was carried. */
  hasIssue(number: unknown): boolean {
    return isNumber(number) && this.#issues.has(number)
  }

  /** Returns the word for a comment that is not on an issue of this number. */
  wordOfComment(number: unknown): 'pull_request_comments' | 'comments' {
    return isNumber(number) && this.#pulls.has(number) ? 'pull_request_comments' : 'comments'
  }

  /** Remembers the number of an issue, or of a pull request, that is left out. */
  leaveOut(number: unknown, isPull: boolean): void {
    if (!isNumber(number)) return
    this.greatestLeftOut = Math.max(this.greatestLeftOut, number)
    if (isPull) this.#pulls.add(number)
  }

  /** Returns whether a comment of an issue follows another one of its thread. The comments of an issue follow each other. */
  isAnswer(issue: unknown, thread: unknown): boolean {
    if (issue !== this.#threadsOf) this.#threads.clear()
    this.#threadsOf = issue
    const isAnswer = this.#threads.has(thread)
    this.#threads.add(thread)
    return isAnswer
  }

  /** Remembers records that are part of the result. */
  carried(records: readonly ExchangeRecord[]): void {
    for (const record of records) {
      if (record.kind === 'label') this.labels.set(record.label.name, { ...record.label })
      if (record.kind === 'milestone') this.milestones.set(record.milestone.title, { ...record.milestone })
      if (record.kind !== 'issue') continue
      if (isNumber(record.issue.number)) this.#issues.add(record.issue.number)
      for (const label of record.issue.labels ?? []) {
        if (!this.labels.has(label.name)) this.labels.set(label.name, { ...label })
      }
    }
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}
