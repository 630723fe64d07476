import type {
  Actor,
  CommentRecord,
  ForeignUser,
  IdInput,
  IncomingBatch,
  IncomingIssue,
  IssueRecord,
  IssueTracker,
  LabelRecord,
  MilestoneRecord,
  TakenNumber,
} from '../../../src/index.ts'

/** The issues of one repository, in memory. It keeps people as text, and their accounts beside the text. */
export class MemoryTracker<A extends Actor> implements IssueTracker<A, undefined> {
  readonly records: Map<number, IssueRecord> = new Map()
  readonly taken: Set<number> = new Set()
  readonly stored: CommentRecord[] = []
  readonly labels: Map<string, LabelRecord> = new Map()
  readonly milestones: Map<string, MilestoneRecord> = new Map()
  readonly batches: IncomingBatch[] = []
  readonly asked: string[] = []
  /** Accounts by name. */
  readonly accounts: Map<string, IdInput> = new Map()
  nextNumber = 1

  issues(query: Parameters<IssueTracker<A>['issues']>[0]): readonly (IssueRecord | TakenNumber)[] {
    this.asked.push('issues')
    const all = [...this.records.values(), ...[...this.taken].map((number) => ({ number, taken: true }) as const)]
    all.sort((one, other) => one.number - other.number)
    if ('numbers' in query) return all.filter(({ number }) => query.numbers.includes(number))
    return all.filter(({ number }) => number > query.after).slice(0, query.limit)
  }

  comments({ numbers }: { readonly numbers: readonly number[] }): readonly CommentRecord[] {
    this.asked.push('comments')
    return this.stored.filter(({ issue_number }) => numbers.includes(issue_number))
  }

  labelsAndMilestones(): { readonly labels: readonly LabelRecord[]; readonly milestones: readonly MilestoneRecord[] } {
    this.asked.push('labelsAndMilestones')
    return { labels: [...this.labels.values()], milestones: [...this.milestones.values()] }
  }

  findUsers(users: readonly ForeignUser[]): readonly (IdInput | undefined)[] {
    this.asked.push('findUsers')
    return users.map(({ name }) => this.accounts.get(name))
  }

  write(batch: IncomingBatch): void {
    this.asked.push('write')
    this.batches.push(batch)
    for (const label of batch.labels) if (!this.labels.has(label.name)) this.labels.set(label.name, label)
    for (const milestone of batch.milestones) {
      if (!this.milestones.has(milestone.title)) this.milestones.set(milestone.title, milestone)
    }
    for (const issue of [...batch.create, ...batch.update]) this.#write(issue)
    for (const { record } of batch.comments) this.stored.push(record)
  }

  #write({ record }: IncomingIssue): void {
    const labels = record.labels?.map(({ name, ...rest }) => this.labels.get(name) ?? { name, ...rest })
    this.records.set(record.number, { ...record, ...(labels && { labels }) })
    this.nextNumber = Math.max(this.nextNumber, record.number + 1)
  }
}
