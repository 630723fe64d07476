import type { Attribution } from 'forgelet'
import { wait } from '../../../src/schema/sync-or-async.ts'
import type { Statement } from '../../../src/storage/sql/query.ts'
import { compileStatement } from '../../../src/storage/sql/query.ts'
import type { HostDatabase } from './host-database.ts'
import type { StoredComment, StoredIssue } from './issue-records.ts'
import { attributed, authorOf, peopleIn } from './issue-records.ts'
import { answered, IssueRows } from './issue-rows.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'

/** Creates what gives accounts to the people whom issues and comments name. */
export function createAttribution<Tx>(database: HostDatabase<Tx>): Attribution<StandaloneUser, Tx> {
  const rows = new IssueRows(database)
  const { build } = database.context

  return {
    /** Pull requests are passed over: none is imported. */
    named: answered(function* ({ repositoryId, after, limit }, context) {
      for (let last = after; ; ) {
        const found = yield* rows.issues({ repositoryId, after: last, limit }, context)
        const issues = found.filter(({ kind }) => kind === 'issue')
        if (issues.length > 0 || found.length === 0) {
          const numbers = issues.map(({ number }) => number)
          const comments = yield* rows.comments({ repositoryId, numbers }, context)
          const records: (StoredIssue | StoredComment)[] = [...issues, ...comments].map(({ record }) =>
            JSON.parse(record),
          )
          return records.flatMap(peopleIn).toSorted((one, other) => one.number - other.number)
        }
        last = found.at(-1)?.number ?? last
      }
    }),

    attribute: answered(function* ({ repositoryId, numbers, accounts }, context) {
      const given = new Map([...accounts].map(([name, id]) => [name, idOf(id)]))
      const changes: Statement<unknown>[] = []
      const change = (statement: Parameters<typeof compileStatement>[0]) =>
        changes.push({ ...compileStatement(statement), mayTakeLong: true })

      for (const { number, record: text } of yield* rows.issues({ repositoryId, numbers }, context)) {
        const record = attributed<StoredIssue>(JSON.parse(text), given)
        if (record === undefined) continue
        const author = authorOf(record)
        const columns = { ...(author !== undefined && { poster_id: author }), record: JSON.stringify(record) }
        const issue = build.updateTable('issues').where('repository_id', '=', idOf(repositoryId))
        change(issue.where('number', '=', number).set(columns))
      }
      for (const { id, record: text } of yield* rows.comments({ repositoryId, numbers }, context)) {
        const record = attributed<StoredComment>(JSON.parse(text), given)
        if (record === undefined) continue
        change(
          build
            .updateTable('comments')
            .where('id', '=', id)
            .set({ record: JSON.stringify(record) }),
        )
      }
      if (changes.length > 0) yield* wait(database.rowsOfEach<readonly unknown[]>(changes, context.transaction))
    }),
  }
}
