import type { Actor, CommentRecord, IncomingBatch, IssueRecord, IssueTracker, TakenNumber } from '../../src/index.ts'
import { TAKEN_NUMBER } from './world.ts'

/** The issues of a host, in memory, by repository. One number of each repository is that of a pull request. */
export class HostIssues implements IssueTracker<Actor> {
  readonly #issues = new Map<string, IssueRecord[]>()
  readonly #comments = new Map<string, CommentRecord[]>()

  titlesOf(repositoryId: string): ReadonlyMap<number, string> {
    return new Map(this.issuesOf(repositoryId).map(({ number, title }) => [number, title]))
  }

  textsOf(repositoryId: string): ReadonlySet<string> {
    return new Set(this.commentsOf(repositoryId).map(({ issue_number, content }) => `${issue_number} ${content}`))
  }

  issuesOf(repositoryId: string): readonly IssueRecord[] {
    return this.#issues.get(repositoryId) ?? []
  }

  commentsOf(repositoryId: string): readonly CommentRecord[] {
    return this.#comments.get(repositoryId) ?? []
  }

  issues(query: Parameters<IssueTracker<Actor>['issues']>[0]): readonly (IssueRecord | TakenNumber)[] {
    const taken: TakenNumber = { number: TAKEN_NUMBER, taken: true }
    const all = [...this.issuesOf(query.repositoryId), taken].sort((one, other) => one.number - other.number)
    if ('numbers' in query) return all.filter(({ number }) => query.numbers.includes(number))
    return all.filter(({ number }) => number > query.after).slice(0, query.limit)
  }

  comments({
    repositoryId,
    numbers,
  }: {
    readonly repositoryId: string
    readonly numbers: readonly number[]
  }): readonly CommentRecord[] {
    return this.commentsOf(repositoryId).filter(({ issue_number }) => numbers.includes(issue_number))
  }

  findUsers(users: readonly unknown[]): readonly undefined[] {
    return users.map(() => undefined)
  }

  write({ repositoryId, create, update, comments }: IncomingBatch): void {
    const written = [...create, ...update].map(({ record }) => record)
    const others = this.issuesOf(repositoryId).filter(({ number }) => written.every((one) => one.number !== number))
    this.#issues.set(repositoryId, [...others, ...written])
    this.#comments.set(repositoryId, [...this.commentsOf(repositoryId), ...comments.map(({ record }) => record)])
  }
}
