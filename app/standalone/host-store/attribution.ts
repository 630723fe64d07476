import type { Attribution } from 'forgelet'
import { answered, wait } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import type { StoredComment, StoredIssue } from './issue-records.ts'
import { attributed, authorOf, peopleIn } from './issue-records.ts'
import { issueRows } from './issue-rows.ts'
import type { StandaloneUser } from './roles.ts'
import { idOf } from './roles.ts'
import type { Sql } from './sql.ts'
import { raw, sql } from './sql.ts'

/** Creates what gives accounts to the people whom issues and comments name. */
export function createAttribution<Tx>(database: HostDatabase<Tx>): Attribution<StandaloneUser, Tx> {
  const rows = issueRows(database)
  const { table } = database.context

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
      const changes: Sql[] = []
      for (const { number, record: text } of yield* rows.issues({ repositoryId, numbers }, context)) {
        const record = attributed<StoredIssue>(JSON.parse(text), given)
        if (record === undefined) continue
        const author = authorOf(record)
        const poster = author === undefined ? raw('') : sql`poster_id = ${author}, `
        changes.push(sql`update ${table('issues')} set ${poster}record = ${JSON.stringify(record)}
          where repository_id = ${idOf(repositoryId)} and number = ${number}`)
      }
      for (const { id, record: text } of yield* rows.comments({ repositoryId, numbers }, context)) {
        const record = attributed<StoredComment>(JSON.parse(text), given)
        if (record === undefined) continue
        changes.push(sql`update ${table('comments')} set record = ${JSON.stringify(record)} where id = ${id}`)
      }
      if (changes.length > 0) yield* wait(database.change(changes, context.transaction))
    }),
  }
}
