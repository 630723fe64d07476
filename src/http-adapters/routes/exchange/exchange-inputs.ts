import { invalidInput } from '../../../schema/errors.ts'
import type { NotCarried } from '../../../schema/issue-record.ts'
import { bodyTooLarge } from '../error-status.ts'
import type { JsonSchema } from '../json-schema.ts'
import type { IssueDocuments } from '../ports.ts'
import type { RequestContext, Settings } from '../request-context.ts'
import type { Input } from '../route.ts'

/** The choices of a query parameter; the first is the default. */
const ON_CONFLICT = ['refuse', 'skip', 'update'] as const
const ATTRIBUTION = ['names', 'accounts'] as const
const DRY_RUN = ['false', 'true'] as const

/** How to import. Source: docs/behaviour.md, Exchange */
export interface ImportChoices {
  readonly onConflict: (typeof ON_CONFLICT)[number]
  readonly attribution: (typeof ATTRIBUTION)[number]
  /** Report what the import would do, and write nothing. */
  readonly dryRun: boolean
}

/** How to import, in the query. A misspelled choice is refused: an import cannot be undone. */
export const importChoicesInQuery: Input<ImportChoices> = {
  parameters: [
    {
      name: 'on_conflict',
      in: 'query',
      schema: { type: 'string', enum: ON_CONFLICT, default: ON_CONFLICT[0] },
      description:
        'what happens to an issue that exists and differs: the import ends with 409, the issue is left, or it is replaced',
    },
    {
      name: 'attribution',
      in: 'query',
      schema: { type: 'string', enum: ATTRIBUTION, default: ATTRIBUTION[0] },
      description: 'whether authors are kept as names, or are the accounts of these names; accounts need a site admin',
    },
    {
      name: 'dry_run',
      in: 'query',
      schema: { type: 'boolean', default: false },
      description: 'report what the import would do, and write nothing',
    },
  ],
  errors: ['INVALID_INPUT'],
  read: ({ request }) => readChoices(new URLSearchParams(request.query)),
}

function readChoices(query: URLSearchParams): ImportChoices {
  return {
    onConflict: choiceOf(query, 'on_conflict', ON_CONFLICT),
    attribution: choiceOf(query, 'attribution', ATTRIBUTION),
    dryRun: choiceOf(query, 'dry_run', DRY_RUN) === 'true',
  }
}

function choiceOf<C extends string>(query: URLSearchParams, name: string, choices: readonly [C, ...C[]]): C {
  const [given = choices[0], ...others] = query.getAll(name)
  const choice = choices.find((one) => one === given)
  if (choice !== undefined && others.length === 0) return choice
  throw invalidInput(`/${name}`, 'choice', `${name} must be ${choices.join(' or ')}`)
}

/** The records of a body, read while they are imported. */
export interface SentDocument {
  readonly records: ReturnType<IssueDocuments['read']>
  /** What the document has and an exchange record has not. Complete when the records have been read. */
  notCarried(): readonly NotCarried[]
}

/** The schema of a body with issues. Its form is recognized. */
const sentSchema: JsonSchema = {
  type: 'array',
  items: { type: 'object' },
  description: 'an issue document, or a list of issues as GitHub, GitLab or Gitea write it',
}

/** The document in the body. It is opened when the import begins, and read while it is imported. */
export const documentInBody: Input<() => SentDocument> = {
  parameters: [],
  body: {
    description: 'the issues; gzip is recognized',
    schema: sentSchema,
    types: ['application/json', 'application/yaml'],
    limit: 'maxImportBytes',
  },
  errors: ['INVALID_INPUT', 'INVALID_DOCUMENT', 'BODY_TOO_LARGE'],
  read: (requestContext) => () => openDocument(requestContext),
}

function openDocument({ request, settings }: Pick<RequestContext<never>, 'request' | 'settings'>): SentDocument {
  const { maxImportBytes, maxRecordBytes } = settings.limits
  const body = request.stream(maxImportBytes)
  if (body === undefined) throw invalidInput('', 'required', 'a body with issues is required')

  let notCarried: readonly NotCarried[] = []
  const records = documentsOf(settings).read(body, {
    contentType: request.header('content-type'),
    limits: { maxRecordBytes },
    onBytes: atMost(maxImportBytes),
    onNotCarried: (what) => {
      notCarried = what
    },
  })
  return { records, notCarried: () => notCarried }
}

/** Refuses a body that is short as long as it is compressed. */
function atMost(limit: number): (bytes: number) => void {
  let size = 0
  return (bytes) => {
    size += bytes
    if (size > limit) throw bodyTooLarge(limit)
  }
}

/** The documents of an API that has these routes. */
export function documentsOf({ documents }: Pick<Settings<never>, 'documents'>): IssueDocuments {
  if (documents === undefined) throw new TypeError('the routes of the exchange need documents')
  return documents
}
