import type { ExchangeRecord, LabelRecord, MilestoneRecord } from '../../schema/issue-record.ts'
import type { Path } from '../documents/record-batch.ts'
import type { Findings } from './forge-format.ts'

/** What the conversions of one source remember: labels, milestones, and the numbers of the issues that were carried. */
export class ConversionState {
  readonly labels: FirstOfName<LabelRecord> = new FirstOfName('label_variant')
  readonly #milestones: FirstOfName<MilestoneRecord> = new FirstOfName('milestone_variant')
  readonly #carriedMilestones = new Set<string>()
  readonly #numbers = new Set<number>()

  /** Returns the milestone as a record, unless it was carried before. */
  milestone(milestone: MilestoneRecord, path: Path, findings: Findings): readonly ExchangeRecord[] {
    const first = this.#milestones.of(milestone.title, milestone, path, findings)
    return this.#carriedMilestones.has(milestone.title) ? [] : [{ kind: 'milestone', milestone: first }]
  }

  /** Returns whether the issue of this number was carried. */
  hasIssue(number: number): boolean {
    return this.#numbers.has(number)
  }

  /** Remembers records that are part of the result. */
  carried(records: readonly ExchangeRecord[]): void {
    for (const record of records) {
      if (record.kind === 'milestone') this.#carriedMilestones.add(record.milestone.title)
      if (record.kind === 'issue') this.#numbers.add(record.issue.number)
    }
  }
}

/**
 * Remembers the first record of each name. Where a source has another one of that name, such as a label with two colors,
 * the first one is used, and the other is reported.
 */
class FirstOfName<T> {
  readonly #what: string
  readonly #known = new Map<string, { readonly record: T; readonly text: string }>()

  /** @param what - the word for a record that differs from the first one */
  constructor(what: string) {
    this.#what = what
  }

  /** Returns the first record of the name. */
  of(name: string, record: T, path: Path, findings: Findings): T {
    const text = JSON.stringify(record)
    const known = this.#known.get(name)
    if (known === undefined) this.#known.set(name, { record, text })
    else if (known.text !== text) findings.notCarried(this.#what, path)
    return known?.record ?? record
  }
}
