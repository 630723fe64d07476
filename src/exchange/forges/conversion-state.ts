import type { ExchangeRecord } from '../../schema/issue-record.ts'
import { NumberSet } from '../../schema/number-set.ts'
import { objectOf } from './foreign.ts'
import type { Findings, Foreign, Made } from './forge-format.ts'

/**
 * What the conversions of one source remember of what was carried: an issue that is not valid must not take its
 * milestone with it. Where a source has another label or milestone of a name, the first one is used, and the other is
 * reported.
 */
export class ConversionState {
  readonly #labels = new Map<unknown, unknown>()
  readonly #milestones = new Map<unknown, unknown>()
  readonly #issues = new NumberSet()
  readonly #pulls = new NumberSet()

  /** Returns the label, or the first one of its name. */
  label(label: Foreign, findings: Findings): unknown {
    const known = this.#labels.get(label['name'])
    if (known !== undefined && !isSame(known, label)) findings.notCarried('label_variant', [])
    return known ?? label
  }

  /** Returns the milestone as a record, unless it was carried before. */
  milestone(milestone: Foreign, findings: Findings): readonly Made[] {
    const known = this.#milestones.get(milestone['title'])
    if (known === undefined) return [{ kind: 'milestone', milestone }]
    if (!isSame(known, milestone)) findings.notCarried('milestone_variant', [])
    return []
  }

  /** Returns whether the issue of this number was carried. */
  hasIssue(number: unknown): boolean {
    return typeof number === 'number' && Number.isSafeInteger(number) && this.#issues.has(number)
  }

  /** Remembers the number of a pull request. */
  addPull(number: unknown): void {
    if (typeof number === 'number' && Number.isSafeInteger(number)) this.#pulls.add(number)
  }

  /** Returns the word for a comment that is not on an issue of this number. */
  wordOfComment(number: number): 'pull_request_comments' | 'comments' {
    return Number.isSafeInteger(number) && this.#pulls.has(number) ? 'pull_request_comments' : 'comments'
  }

  /** Remembers records that are part of the result. */
  carried(records: readonly ExchangeRecord[]): void {
    for (const record of records) {
      if (record.kind === 'label') this.#labels.set(record.label.name, record.label)
      if (record.kind === 'milestone') this.#milestones.set(record.milestone.title, record.milestone)
      if (record.kind !== 'issue') continue
      if (Number.isSafeInteger(record.issue.number)) this.#issues.add(record.issue.number)
      for (const label of record.issue.labels ?? []) {
        if (!this.#labels.has(label.name)) this.#labels.set(label.name, label)
      }
    }
  }
}

/** Compares texts and null, of which labels and milestones consist. */
function isSame(one: unknown, other: Foreign): boolean {
  const known = objectOf(one)
  for (const name in known) if (known[name] !== other[name]) return false
  return Object.keys(known).length === Object.keys(other).length
}
