import type { IssueRecord, IssueTracker, TakenNumber } from '../../src/index.ts'
import type { Person } from './world.ts'

const CREATED = '2026-01-02T03:04:05Z'

/** An issue of the world, as a document has it. */
export function issueRecord(number: number, more: Partial<IssueRecord> = {}): IssueRecord {
  return {
    number,
    poster_id: 8,
    poster_name: 'stan',
    poster_email: 'stan@example.com',
    title: `issue ${number}`,
    content: '',
    state: 'open',
    is_locked: false,
    created: CREATED,
    updated: CREATED,
    ...more,
  }
}

/** The issues of the world, in memory: 1 to 5 of repository 1, whose pull requests are 6 to 9, and issue 1 of repository 2. */
export function worldIssues(
  mayReadAddresses: (repositoryId: string, name: string) => boolean,
): IssueTracker<Person, undefined> {
  const repositories = new Map<string, Map<number, IssueRecord | TakenNumber>>([
    ['1', new Map([1, 2, 3, 4, 5].map((number) => [number, issueRecord(number)]))],
    ['2', new Map([[1, issueRecord(1)]])],
  ])
  for (const number of [6, 7, 8, 9]) repositories.get('1')?.set(number, { number, taken: true })
  const issuesOf = (id: string): Map<number, IssueRecord | TakenNumber> => {
    const known = repositories.get(id) ?? new Map<number, IssueRecord | TakenNumber>()
    repositories.set(id, known)
    return known
  }

  return {
    issues(query, { actor }) {
      const all = [...issuesOf(query.repositoryId).values()].sort((one, other) => one.number - other.number)
      const asked =
        'numbers' in query
          ? all.filter(({ number }) => query.numbers.includes(number))
          : all.filter(({ number }) => number > query.after).slice(0, query.limit)
      const seesAll = actor === 'system' || (actor !== 'anonymous' && mayReadAddresses(query.repositoryId, actor.name))
      return seesAll ? asked : asked.map(withoutAddress)
    },
    comments: 'none',
    findUsers: (users) => users.map(({ name }) => (name === 'stan' ? '7' : undefined)),
    write({ repositoryId, create, update }) {
      for (const { record } of [...create, ...update]) issuesOf(repositoryId).set(record.number, record)
    },
  }
}

function withoutAddress(issue: IssueRecord | TakenNumber): IssueRecord | TakenNumber {
  if ('taken' in issue) return issue

  const { poster_email: _hidden, ...shown } = issue
  return shown
}
