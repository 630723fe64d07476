import type {
  Actor,
  Attribution,
  CommentRecord,
  ForeignUser,
  IdInput,
  IncomingBatch,
  IncomingComment,
  IncomingIssue,
  IssueRecord,
  IssueTracker,
  LabelRecord,
  MilestoneRecord,
  NamedPerson,
  TakenNumber,
} from '../../../src/index.ts'

/** The issues of one repository, in memory. It keeps people as text, and their accounts beside the text. */
export class MemoryTracker<A extends Actor> implements IssueTracker<A, unknown> {
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
  /** The accounts of people, by their names, beside each record. */
  readonly #owners = new WeakMap<object, Map<string, IdInput>>()

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
    for (const label of batch.labelUpdates) this.#replaceLabel(label)
    for (const milestone of batch.milestoneUpdates) this.milestones.set(milestone.title, milestone)
    for (const issue of [...batch.create, ...batch.update]) this.#write(issue)
    for (const comment of batch.comments) {
      this.stored.push(comment.record)
      this.#own(comment.record, comment)
    }
    for (const comment of batch.commentUpdates) {
      this.stored.splice(this.stored.indexOf(comment.previous), 1, comment.record)
      this.#own(comment.record, comment)
    }
  }

  reserveNumbers({ upTo }: { readonly upTo: number }): void {
    this.asked.push('reserveNumbers')
    this.nextNumber = Math.max(this.nextNumber, upTo + 1)
  }

  #replaceLabel(label: LabelRecord): void {
    this.labels.set(label.name, label)
    for (const issue of this.records.values()) {
      const at = issue.labels?.findIndex(({ name }) => name === label.name) ?? -1
      if (at >= 0) issue.labels?.splice(at, 1, label)
    }
  }

  #write(incoming: IncomingIssue): void {
    const { record } = incoming
    const labels = record.labels?.map(({ name, ...rest }) => this.labels.get(name) ?? { name, ...rest })
    const stored = { ...record, ...(labels && { labels }) }
    this.records.set(record.number, stored)
    this.#own(stored, incoming)
    this.nextNumber = Math.max(this.nextNumber, record.number + 1)
  }

  #own(stored: object, { record, posterId, reactionUserIds, ...incoming }: IncomingIssue | IncomingComment): void {
    const assigneeIds = 'assigneeIds' in incoming ? incoming.assigneeIds : []
    const owners = new Map<string, IdInput>()
    const own = (name: string | undefined, id: IdInput | null | undefined) => name && id && owners.set(name, id)
    own(record.poster_name, posterId)
    for (const [at, name] of ('assignees' in record ? (record.assignees ?? []) : []).entries())
      own(name, assigneeIds[at])
    for (const [at, { user_name }] of (record.reactions ?? []).entries()) own(user_name, reactionUserIds[at])
    this.#owners.set(stored, owners)
  }

  readonly attribution: Attribution<A, unknown> = {
    named: ({ after, limit }) => {
      this.asked.push('named')
      const issues = [...this.records.values()].toSorted((one, other) => one.number - other.number)
      const page = issues.filter(({ number }) => number > after).slice(0, limit)
      return page.flatMap((issue) => [
        ...this.#peopleOf(issue.number, issue),
        ...this.#commentsOf(issue.number).flatMap((comment) => this.#peopleOf(issue.number, comment)),
      ])
    },
    attribute: ({ numbers, accounts }) => {
      this.asked.push('attribute')
      const issues = numbers.map((number) => this.records.get(number))
      for (const record of [...issues, ...numbers.flatMap((number) => this.#commentsOf(number))]) {
        const owners = this.#owners.get(record ?? {})
        for (const [name, id] of accounts) if (owners !== undefined && !owners.has(name)) owners.set(name, id)
      }
    },
  }

  #commentsOf(number: number): readonly CommentRecord[] {
    return this.stored.filter(({ issue_number }) => issue_number === number)
  }

  #peopleOf(number: number, record: IssueRecord | CommentRecord): readonly NamedPerson[] {
    const owners = this.#owners.get(record)
    const person = (part: NamedPerson['part'], name: string): NamedPerson => {
      return { number, part, name, hasAccount: owners?.has(name) === true }
    }
    const assignees = 'assignees' in record ? (record.assignees ?? []) : []
    return [
      person('issue_number' in record ? 'comments' : 'issues', record.poster_name),
      ...assignees.map((name) => person('assignees', name)),
      ...(record.reactions ?? []).flatMap(({ user_name: name }) => (name ? [person('reactions', name)] : [])),
    ]
  }
}
