import type { ImportReport, InspectReport } from '../../core/exchange/import-report.ts'
import { invalidInput, isForgeError } from '../../schema/errors.ts'
import type { IssueRecord, NotCarried } from '../../schema/issue-record.ts'
import { wait } from '../../schema/sync-or-async.ts'
import { bodyTooLarge } from './error-status.ts'
import { repositoryIn } from './inputs.ts'
import type { IssueDocuments } from './ports.ts'
import { jsonReply, jsonStreamReply } from './replies.ts'
import type { Route, RouteRequest } from './route.ts'
import { route } from './route.ts'

/** The issue exchange. An API has these routes if it has `documents`. */
export const exchangeRoutes: readonly Route[] = [
  route('exchange', 'repoExportIssues', 'GET /repos/{owner}/{repo}/issues/export', function* (r) {
    const repositoryId = yield* repositoryIn(r, 'issues.export')
    const issues = r.operations.exchange.export(r.actor, repositoryId, r.context)
    return yield* wait(jsonStreamReply(r.slots.exports.duringStream(written(documentsOf(r), issues))))
  }),
  route('exchange', 'repoImportIssues', 'POST /repos/{owner}/{repo}/issues/import', function* (r) {
    const repositoryId = yield* repositoryIn(r, 'issues.import')
    const query = new URLSearchParams(r.request.query)
    // A misspelled choice is refused: an import cannot be undone.
    const onConflict = choiceIn(query, 'on_conflict', ['refuse', 'skip', 'update'])
    const attribution = choiceIn(query, 'attribution', ['names', 'accounts'])
    const isDry = choiceIn(query, 'dry_run', ['false', 'true']) === 'true'
    const imported = r.slots.imports.during(async () => {
      const notCarried: NotCarried[] = []
      const records = recordsIn(r, (what) => notCarried.push(...what))
      const { exchange } = r.operations
      const options = { onConflict, attribution, signal: r.context.signal }
      const work = isDry
        ? exchange.inspect(r.actor, { repositoryId, records }, options)
        : exchange.import(r.actor, { repositoryId, records }, options)
      return reportJson(isDry, await work, notCarried)
    })
    return jsonReply(yield* wait(imported))
  }),
]

/** Writes issues of the host. One that is no valid record is a fault of its tracker, not of the client. */
async function* written(
  { write }: IssueDocuments,
  issues: AsyncIterable<IssueRecord>,
): AsyncGenerator<Uint8Array, void, void> {
  let number: number | undefined
  async function* numbered(): AsyncGenerator<IssueRecord, void, void> {
    for await (const issue of issues) {
      number = issue.number
      yield issue
    }
  }
  try {
    yield* write(numbered())
  } catch (cause) {
    if (!isForgeError(cause, 'INVALID_DOCUMENT')) throw cause
    const [{ pointer, message } = { pointer: '', message: '' }] = cause.details.violations
    throw new TypeError(`issues.issues returned issue ${number}, which is not valid: ${pointer}: ${message}`, { cause })
  }
}

/** A choice in the query. @param choices - the first is the default */
function choiceIn<const C extends string>(query: URLSearchParams, name: string, choices: readonly [C, ...C[]]): C {
  const [given = choices[0], ...others] = query.getAll(name)
  const choice = choices.find((one) => one === given)
  if (choice !== undefined && others.length === 0) return choice
  throw invalidInput(`/${name}`, 'choice', `${name} must be ${choices.join(' or ')}`)
}

/**
 * The records of a body, read while they are imported.
 *
 * @param onNotCarried - called once the records have been read, with what the document has and an exchange record has not
 */
function recordsIn(r: RouteRequest, onNotCarried: (what: readonly NotCarried[]) => void) {
  const { maxImportBytes, maxRecordBytes } = r.settings.limits
  const body = r.request.stream(maxImportBytes)
  if (body === undefined) throw invalidInput('', 'required', 'a body with issues is required')

  return documentsOf(r).read(body, {
    contentType: r.request.header('content-type'),
    limits: { maxRecordBytes },
    onBytes: atMost(maxImportBytes),
    onNotCarried,
  })
}

/** Refuses a body that is short as long as it is compressed. */
function atMost(limit: number): (bytes: number) => void {
  let size = 0
  return (bytes) => {
    size += bytes
    if (size > limit) throw bodyTooLarge(limit)
  }
}

function documentsOf({ settings: { documents } }: RouteRequest): IssueDocuments {
  if (documents === undefined) throw new TypeError('the routes of the exchange need documents')
  return documents
}

/** What an import did, or would do. */
function reportJson(isDry: boolean, report: ImportReport | InspectReport, notCarried: readonly NotCarried[]): object {
  return {
    dry_run: isDry,
    issues: report.issues,
    comments: report.comments,
    unknown_users: report.unknownUsers,
    not_carried: merged([...notCarried, ...report.notCarried]),
    conflicts: 'conflicts' in report ? report.conflicts : undefined,
  }
}

/** Adds up what has the same name. The first pointer stays. */
function merged(all: readonly NotCarried[]): readonly NotCarried[] {
  const byName = new Map<string, NotCarried>()
  for (const one of all) {
    const known = byName.get(one.what)
    byName.set(one.what, known === undefined ? one : { ...known, count: known.count + one.count })
  }
  return [...byName.values()]
}
