import type { Path } from '../documents/source-record.ts'
import type { ConversionState } from './conversion-state.ts'
import type { Foreign, Made } from './foreign.ts'
import { listOf, says } from './foreign.ts'

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

  /** Reports what a property counts or lists, if it says something. */
  leaveAll(what: string, property: string, value: unknown): void {
    if (says(value)) this.notCarried(what, [property], typeof value === 'number' ? value : listOf(value).length)
  }

  /** Reports the attachments that a text links to. The links stay in the text, the files are not in the source. */
  leaveLinks(attachment: RegExp, property: string, text: unknown): void {
    this.leaveAll('attachment', property, typeof text === 'string' ? text.match(attachment) : null)
  }

  /** Reports the properties that a conversion did not name, by their own names. @param isPlain - whether one says nothing more */
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
    this.state.leaveOut(number, false)
    return true
  }

  /** Returns the label, or the first one of its name; another one is reported. */
  label(label: Foreign): Foreign {
    const known = this.state.labels.get(label['name'])
    if (known !== undefined && !isSame(known, label)) this.notCarried('label_variant')
    return known ?? label
  }

  /** Returns the milestone as a record, unless one of its title was carried before; another one is reported. */
  milestone(milestone: Foreign): readonly Made[] {
    const known = this.state.milestones.get(milestone['title'])
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
