import type { Id, PinKind } from '../../index.ts'
import type { Account, Label, Repository } from '../seed.ts'
import type { IssueDetails } from './host-store.ts'
import type { AccountRow, IssueRow, LabelRow, RepositoryRow } from './sql-rows.ts'
import {
  ACCOUNT_COLUMNS,
  accountOf,
  ISSUE_COLUMNS,
  issueOf,
  labelOf,
  REPOSITORY_COLUMNS,
  repositoryOf,
} from './sql-rows.ts'
import type { SqlSession } from './sql-session.ts'

/** Reads an issue together with what is shown beside it: SQLite answers in the same process, so small queries cost little. */
export class IssueDetailsReader {
  readonly #session: SqlSession

  constructor(session: SqlSession) {
    this.#session = session
  }

  read(issueId: Id): IssueDetails | undefined {
    const row = this.#session.first<IssueRow>(`select ${ISSUE_COLUMNS} from host_issues where id = ?`, Number(issueId))
    const repository = row && this.#repository(row.repository_id)
    const owner = repository && this.#account(Number(repository.ownerId))
    const poster = row && this.#account(row.poster_id)
    if (row === undefined || repository === undefined || owner === undefined || poster === undefined) return undefined

    const labels = this.#labels(row.id)
    const assignees = this.#assignees(row.id)
    const issue = issueOf(
      row,
      labels.map((label) => label.id),
      assignees.map((assignee) => assignee.id),
    )
    return { issue, repository, owner, poster, labels, assignees, ...this.#open(row.repository_id) }
  }

  #repository(id: number): Repository | undefined {
    const row = this.#session.first<RepositoryRow>(
      `select ${REPOSITORY_COLUMNS} from host_repositories where id = ?`,
      id,
    )
    return row && repositoryOf(row)
  }

  #account(id: number): Account | undefined {
    const row = this.#session.first<AccountRow>(`select ${ACCOUNT_COLUMNS} from host_accounts where id = ?`, id)
    return row && accountOf(row)
  }

  #labels(issueId: number): readonly Label[] {
    const rows = this.#session.all<LabelRow>(
      `select l.id, l.repository_id, l.name, l.color, l.description from host_issue_labels i
       join host_labels l on l.id = i.label_id where i.issue_id = ? order by i.place`,
      issueId,
    )
    return rows.map(labelOf)
  }

  #assignees(issueId: number): readonly Account[] {
    const rows = this.#session.all<AccountRow>(
      `select ${ACCOUNT_COLUMNS} from host_issue_assignees i
       join host_accounts a on a.id = i.user_id where i.issue_id = ? order by i.place`,
      issueId,
    )
    return rows.map(accountOf)
  }

  #open(repositoryId: number): { readonly openIssues: number; readonly openPullRequests: number } {
    const rows = this.#session.all<{ kind: PinKind; many: number }>(
      `select kind, count(*) as many from host_issues where repository_id = ? and state = 'open' group by kind`,
      repositoryId,
    )
    const count = (kind: PinKind) => rows.find((row) => row.kind === kind)?.many ?? 0
    return { openIssues: count('issue'), openPullRequests: count('pullRequest') }
  }
}
