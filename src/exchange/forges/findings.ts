import type { ExchangeRecord } from '../../schema/issue-record.ts'
import { NumberSet } from '../../schema/number-set.ts'
import type { Path } from '../documents/source-record.ts'
import type { Foreign, Made } from './foreign.ts'
import { filled, listOf, says, stateOf, textOf } from './foreign.ts'

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
  /** The pull requests that were left out. */
  readonly pulls: NumberSet = new NumberSet()
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
    return typeof number === 'number' && this.#issues.has(number)
  }

  /** Remembers the number of an issue, or of a pull request, that is left out. */
  leaveOut(number: unknown, pulls?: NumberSet): void {
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return
    this.greatestLeftOut = Math.max(this.greatestLeftOut, number)
    pulls?.add(number)
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
      this.#issues.add(record.issue.number)
      for (const label of record.issue.labels ?? []) {
        if (!this.labels.has(label.name)) this.labels.set(label.name, { ...label })
      }
    }
  }
}

/** Begins the word for what a source counts. At the end of the source, what is missing is reported by the rest of that word. */
export const EXPECTED = 'expected '

/** Receives what exchange records have no property for, by its name, or a word such as `pull_request`. The path begins at the record. */
export type Report = (what: string, path: Path, count: number) => void

/** Where a record, or a part of it, is converted: what the source is known to have, and what is found there. */
export class Findings {
  readonly state: ConversionState
  readonly #report: Report
  readonly #path: Path

  constructor(state: ConversionState, report: Report, path: Path = []) {
    this.state = state
    this.#report = report
    this.#path = path
  }

  /** Returns the findings of a part. */
  within(...path: Path): Findings {
    return new Findings(this.state, this.#report, this.#path.concat(path))
  }

  /** Returns findings without those in one property. */
  except(property: string): Findings {
    return new Findings(this.state, (what, path, count) => {
      if (path[0] !== property) this.notCarried(what, path, count)
    })
  }

  /** Converts each element of a list, with its findings, to one thing or several. */
  each<T>(name: string, list: unknown, convert: (element: unknown, at: Findings) => T | readonly T[]): readonly T[] {
    return listOf(list).flatMap((element, index) => convert(element, this.within(name, index)))
  }

  notCarried(what: string, path: Path = [], count = 1): void {
    this.#report(what, this.#path.concat(path), count)
  }

  /** Reports a record, or a part of one, that is left out. */
  leave(what: string): readonly Made[] {
    this.notCarried(what)
    return []
  }

  /** Reports a pull request. */
  leavePull({ number }: Foreign): readonly Made[] {
    this.state.leaveOut(number, this.state.pulls)
    return this.leave('pull_request')
  }

  /** Returns whether the issue of a comment was not carried, and then reports the comment. What is no number is a violation. */
  lacksIssue(number: unknown, isOfPull = false): boolean {
    if (typeof number !== 'number' || this.state.hasIssue(number)) return false
    this.notCarried(isOfPull || this.state.pulls.has(number) ? 'pull_request_comments' : 'comments')
    return true
  }

  /** Adds the number in a property to what the source should have. What is missing at its end is reported. */
  expect(what: 'comments' | 'issues', property: string, count: unknown): void {
    this.leaveAll(EXPECTED + what, property, count)
  }

  /** Subtracts what the source has from what it should have. */
  found(what: 'comments' | 'issues', count = 1): void {
    this.notCarried(EXPECTED + what, [], -count)
  }

  /** Reports what a property counts or lists, if it says something. */
  leaveAll(what: string, property: string, value: unknown): void {
    if (says(value)) this.notCarried(what, [property], typeof value === 'number' ? value : listOf(value).length)
  }

  /** Reports the attachments that a text links to. The links stay in the text, the files are not in the source. */
  leaveLinks(attachment: RegExp, property: string, text: unknown): void {
    this.leaveAll('attachment', property, typeof text === 'string' ? text.match(attachment) : null)
  }

  /** Reports the properties that a conversion did not name, by their own names. @param isPlain - whether one says nothing of its own */
  leaveRest(rest: Foreign, isPlain?: (name: string, value: unknown) => boolean): void {
    for (const name in rest) {
      const value = rest[name]
      if (!says(value) || isPlain?.(name, value) || (OF_THE_FORGE.test(name) && !isOnlyTrace(name, rest))) continue
      this.notCarried(PARENT.test(name) ? 'parent' : name, [name], Array.isArray(value) ? value.length : 1)
    }
  }

  /** Whether not every reader may see a record. It is reported also where it is kept: exchange records do not say so. */
  isLeftOut(isConfidential: boolean, number?: unknown): boolean {
    if (!isConfidential) return false
    this.notCarried('confidential')
    if (this.state.options.confidential === 'keep') return false
    this.state.leaveOut(number)
    return true
  }

  /** Returns the first label of the name of a label; one that differs is reported. What is optional is left out if it is empty. */
  label({ name, color, description }: Foreign): Foreign {
    const label = { name, ...filled({ color, description }) }
    const known = this.state.labels.get(name)
    if (known !== undefined && !isSame(known, label)) this.notCarried('label_variant')
    return known ?? label
  }

  /** Returns a milestone, unless one of its title was carried before; one that differs is reported. */
  milestone({ title, description, deadline, created, updated, closed, state }: Foreign): readonly Made[] {
    const isNever = textOf(deadline).startsWith('9999-') // Gogs and Gitea write a day of this year for none
    const optional = filled({ description, deadline: isNever ? null : deadline, created, updated, closed })
    const milestone = { title, ...optional, state: stateOf(state) }
    const known = this.state.milestones.get(title)
    if (known === undefined) return [{ kind: 'milestone', milestone }]
    if (!isSame(known, milestone)) this.notCarried('milestone_variant')
    return []
  }
}

/** Compares texts and null, of which labels and milestones consist. */
function isSame(known: Foreign, other: Foreign): boolean {
  for (const name in known) if (known[name] !== other[name]) return false
  return Object.keys(known).length === Object.keys(other).length
}

/** Ids, addresses and counters of the forge: nothing of an issue is lost with them. Whom `closed_by_id` names is lost. */
const OF_THE_FORGE = /(?:^|(?<!_by|_to)_)(?:id|ids|iid|url|count|index|version|score|issues)$/

/** Relations of an issue. An id, an address or a count is lost if the record has nothing else of the relation. */
const RELATION = /(?:^|_)(?:parent|epic|sub_issues|blocking_issues)(?:_|$)/
/** Only the address of a parent says that an issue is part of another one. */
const PARENT = /^parent(?:_issue)?_(?:id|iid|url)$/

/** Returns whether a record says only by this property that it has a relation. */
function isOnlyTrace(name: string, record: Foreign): boolean {
  if (!RELATION.test(name)) return false
  const whole = name.replace(/_(?:id|ids|iid|url|count)$/, '')
  return whole === name || !says(record[whole])
}
