import type { Path } from '../documents/source-record.ts'
import type { ConversionState } from './conversion-state.ts'
import type { Foreign, Made } from './foreign.ts'
import { filled, listOf, says, stateOf, textOf } from './foreign.ts'

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
