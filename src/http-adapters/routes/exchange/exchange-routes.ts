import { repositoryFor } from '../path-inputs.ts'
import type { Route, ServiceRoutes } from '../route.ts'
import { route } from '../route.ts'
import { documentInBody, importChoicesInQuery } from './exchange-inputs.ts'
import { importReport, importReportSchema, issueDocument, issueRecordSchema } from './exchange-replies.ts'

const routes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/export',
    operationId: 'repoExportIssues',
    service: 'exchange',
    summary: "Export a repository's issues",
    inputs: { repositoryId: repositoryFor('issues.export') },
    call: ({ operations, actor, context }, { repositoryId }) =>
      operations.exchange.export(actor, repositoryId, context),
    reply: issueDocument,
    errors: ['EXCHANGE_BUSY'],
  }),
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/import',
    operationId: 'repoImportIssues',
    service: 'exchange',
    summary: 'Import issues into a repository',
    inputs: { repositoryId: repositoryFor('issues.import'), choices: importChoicesInQuery, open: documentInBody },
    call: ({ operations, actor, context, slots }, { repositoryId, choices, open }) =>
      slots.imports.during(async () => {
        const document = open()
        const { onConflict, attribution, dryRun } = choices
        const { exchange } = operations
        const options = { onConflict, attribution, signal: context.signal }
        const request = { repositoryId, records: document.records }
        const work = dryRun ? exchange.inspect(actor, request, options) : exchange.import(actor, request, options)
        return { dryRun, report: await work, notCarried: document.notCarried() }
      }),
    reply: importReport,
    errors: ['EXCHANGE_BUSY', 'IMPORT_CONFLICT'],
  }),
]

/** The issue exchange. An API has these routes if it has `documents`. */
export const exchangeRoutes: ServiceRoutes<'findRepository', never> = {
  description: 'Issues of a repository, as documents',
  needs: { directory: ['findRepository'], present: [] },
  schemas: { ImportReport: importReportSchema, IssueRecord: issueRecordSchema },
  routes,
}
