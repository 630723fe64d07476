import type { Path } from '../documents/source-record.ts'
import type { ConversionState } from './conversion-state.ts'
import type { Foreign, Made } from './foreign.ts'
import { filled, listOf, says, textOf } from './foreign.ts'

/** Begins the word for what a source counts. At the end of the source, what is missing is reported by the rest of that word. */
export const EXPECTED = 'expected '

/** Receives what exchange records have no property for, by its name, or a word such as `pull_request`. The path begins at the record. */
export type Report = (what: string, path: Path, count: number) => void

/** Whether a property says nothing of its own. */
export type IsPlain = (name: string, value: unknown) => boolean

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
  each<T>(
    property: string,
    list: unknown,
    convert: (element: unknown, at: Findings) => T | readonly T[],
  ): readonly T[] {
    return listOf(list).flatMap((element, index) => convert(element, this.within(property, index)))
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
  leavePull(number: unknown): readonly Made[] {
    this.state.leaveOut(number, true)
    return this.leave('pull_request')
  }

  /** Reports a user of whom the source has only the id. @param name - what the user is called in its place */
  nameless(name: string): void {
    this.state.nameless.add(name)
    this.notCarried('user_name')
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

  /** Reports the properties that a conversion did not name, by their own names. */
  leaveRest(rest: Foreign, isPlain?: IsPlain): void {
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
    this.state.leaveOut(number, false)
    return true
  }

  // What properties with our names become. The rest of their record is reported. What is optional is left out if it is empty.

  issue(own: Foreign, rest: Foreign, isPlain?: IsPlain): Made {
    const { number, poster_id, poster_name, title, content, is_locked, state, created, updated } = own
    const { poster_email, ref, milestone, closed, labels, reactions, assignees } = own
    this.leaveRest(rest, isPlain)
    const needed = { number, poster_id, poster_name, title, content: content ?? '', state: stateOf(state) }
    const optional = filled({ poster_email, ref, milestone, closed, labels, reactions, assignees })
    return { kind: 'issue', issue: { ...needed, created, updated, is_locked: is_locked ?? false, ...optional } }
  }

  comment(own: Foreign, rest: Foreign, isPlain?: IsPlain): Made {
    const { issue_number, poster_id, poster_name, created, updated, content, poster_email, reactions } = own
    this.leaveRest(rest, isPlain)
    const needed = { issue_number, poster_id, poster_name, created, updated, content: content ?? '' }
    return { kind: 'comment', comment: { ...needed, ...filled({ poster_email, reactions }) } }
  }

  label({ name, color, description }: Foreign, rest: Foreign, isPlain?: IsPlain): Foreign {
    this.leaveRest(rest, isPlain)
    return { name, ...filled({ color, description }) }
  }

  reaction({ user_id, user_name, content }: Foreign, rest: Foreign): Foreign {
    this.leaveRest(rest)
    return { user_id, ...filled({ user_name }), content }
  }

  /** Returns nothing if a milestone of this title was carried before; one that differs is reported. */
  milestone(own: Foreign, rest: Foreign, isPlain?: IsPlain): readonly Made[] {
    const { title, description, deadline, created, updated, closed, state } = own
    this.leaveRest(rest, isPlain)
    const optional = filled({ description, deadline: dueTime(deadline), created, updated, closed })
    const milestone = { title, ...optional, state: stateOf(state) }
    const known = this.state.milestones.get(title)
    if (known === undefined) return [{ kind: 'milestone', milestone }]
    if (!isSame(known, milestone)) this.notCarried('milestone_variant')
    return []
  }

  /** Returns the first label of the name of a label; one that differs is reported. */
  firstLabel(label: Foreign): Foreign {
    const known = this.state.labels.get(label['name'])
    if (known !== undefined && !isSame(known, label)) this.notCarried('label_variant')
    return known ?? label
  }
}

/** The states that other forges call otherwise. */
const STATES: ReadonlyMap<unknown, string> = new Map([
  ['opened', 'open'],
  ['active', 'open'],
  ['OPEN', 'open'],
  ['CLOSED', 'closed'],
])

function stateOf(state: unknown): unknown {
  return STATES.get(state) ?? state
}

/** Returns when a milestone is due. Gogs and Gitea write a day of the year 9999 for none. */
function dueTime(value: unknown): unknown {
  return textOf(value).startsWith('9999-') ? null : value
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
