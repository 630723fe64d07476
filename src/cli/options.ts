/** An option of the command line. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** The short form, one letter. */
  readonly short?: string
  /** The placeholder for the value in the help text. */
  readonly value?: string
  readonly help: string
  /** The default value, as the help text shows it. */
  readonly standard?: string
  /** The value may be `-`, for a standard stream. */
  readonly takesStream?: boolean
}

/** The options of `forgelet serve`, in the order of the help text. */
export const SERVE_OPTIONS = {
  db: {
    type: 'string',
    value: 'URL|FILE',
    help: 'postgres://…, mysql://…, SQLite file or :memory:',
    standard: 'forgelet.sqlite',
  },
  prefix: { type: 'string', value: 'PREFIX', help: 'prefix of every table name', standard: 'forgelet_ and host_' },
  schema: { type: 'string', value: 'SCHEMA', help: 'schema of the tables, on PostgreSQL' },
  fixture: { type: 'string', value: 'FILE', help: 'users, repositories, issues (JSON or YAML) for an empty database' },
  host: { type: 'string', value: 'HOST', help: 'address to listen on', standard: '127.0.0.1' },
  port: { type: 'string', value: 'PORT', help: 'port to listen on; 0 takes a free one', standard: '3000' },
  'signing-key': { type: 'string', value: 'FILE', help: 'OpenPGP or SSH key; only its public half is served' },
  'max-pins': { type: 'string', value: 'N', help: 'pins of each kind in a repository, 0 to 1000', standard: '3' },
  'public-url': { type: 'string', value: 'URL', help: 'URL of the API for clients, if not HOST and PORT' },
  'shutdown-timeout': {
    type: 'string',
    value: 'N',
    help: 'seconds that requests may take to finish after SIGTERM, 0 to 3600',
    standard: '8',
  },
  'log-requests': { type: 'boolean', help: 'log a line for each request: method, path, status, milliseconds' },
} as const

/** The options of `forgelet schema`, in the order of the help text. */
export const SCHEMA_OPTIONS = {
  db: {
    type: 'string',
    value: 'URL|FILE',
    help: 'postgres://…, mysql://…, or an SQLite file',
    standard: 'forgelet.sqlite',
  },
  prefix: { type: 'string', value: 'PREFIX', help: 'prefix of every table name', standard: 'forgelet_' },
  schema: { type: 'string', value: 'SCHEMA', help: 'schema of the tables, on PostgreSQL' },
  ids: { type: 'string', value: 'LIST', help: 'column types of ids, such as user=uuid,issue=text', standard: 'bigint' },
  from: { type: 'string', value: 'N', help: 'plan: the current version of the tables', standard: '0' },
} as const

/** The options of `forgelet openapi`, in the order of the help text. */
export const OPENAPI_OPTIONS = {
  out: { type: 'string', short: 'o', value: 'FILE', help: 'write to FILE instead of stdout' },
  'public-url': { type: 'string', value: 'URL', help: 'URL of the API for clients, for the list of servers' },
} as const

const SOURCE_OPTIONS = {
  from: {
    type: 'string',
    value: 'FORMAT',
    help: 'document, github, gitlab, gitea or gitea-dump',
    standard: 'recognized',
  },
  confidential: { type: 'string', value: 'keep', help: 'also read what not every reader of its forge may see' },
} as const

/** The options of `forgelet issues validate`, in the order of the help text. */
export const VALIDATE_OPTIONS: typeof SOURCE_OPTIONS = SOURCE_OPTIONS

const TARGET_OPTIONS = {
  out: {
    type: 'string',
    short: 'o',
    value: 'OUT',
    help: 'file, or folder of a dump, to write; - is standard output',
    takesStream: true,
  },
  to: { type: 'string', value: 'FORMAT', help: 'document or gitea-dump', standard: 'document' },
  repo: { type: 'string', value: 'OWNER/NAME', help: 'repository that a dump is of' },
} as const

/** The options of `forgelet issues convert`, in the order of the help text. */
export const CONVERT_OPTIONS: typeof TARGET_OPTIONS & typeof SOURCE_OPTIONS = { ...TARGET_OPTIONS, ...SOURCE_OPTIONS }

/** The options that find the database of `forgelet serve`. */
const HOST_OPTIONS = {
  db: {
    type: 'string',
    value: 'URL|FILE',
    help: 'postgres://…, mysql://…, or an SQLite file',
    standard: 'forgelet.sqlite',
  },
  prefix: { type: 'string', value: 'PREFIX', help: 'prefix of every table name', standard: 'forgelet_ and host_' },
  schema: { type: 'string', value: 'SCHEMA', help: 'schema of the tables, on PostgreSQL' },
} as const

const REPOSITORY_OPTION = {
  repo: { type: 'string', value: 'OWNER/NAME', help: 'repository in the database' },
} as const

const MERGE_OPTIONS = {
  'dry-run': { type: 'boolean', help: 'report what the import would do, and write nothing' },
  'on-conflict': {
    type: 'string',
    value: 'HOW',
    help: 'refuse, skip or update issues that exist and differ',
    standard: 'refuse',
  },
  attribution: {
    type: 'string',
    value: 'HOW',
    help: 'names: keep names as text; accounts: attribute to accounts',
    standard: 'names',
  },
  users: { type: 'string', value: 'FILE', help: 'map of names to accounts, or to null (JSON or YAML)' },
} as const

/** The options of `forgelet issues import`, in the order of the help text. */
export const IMPORT_OPTIONS: typeof REPOSITORY_OPTION &
  typeof HOST_OPTIONS &
  typeof MERGE_OPTIONS &
  typeof SOURCE_OPTIONS = {
  ...REPOSITORY_OPTION,
  ...HOST_OPTIONS,
  ...MERGE_OPTIONS,
  ...SOURCE_OPTIONS,
}

const DOCUMENT_OPTIONS = {
  out: {
    type: 'string',
    short: 'o',
    value: 'OUT',
    help: 'file to write; - is standard output',
    standard: '-',
    takesStream: true,
  },
} as const

/** The options of `forgelet issues export`, in the order of the help text. */
export const EXPORT_OPTIONS: typeof REPOSITORY_OPTION & typeof HOST_OPTIONS & typeof DOCUMENT_OPTIONS = {
  ...REPOSITORY_OPTION,
  ...HOST_OPTIONS,
  ...DOCUMENT_OPTIONS,
}

/** The options of `forgelet token list` and `forgelet token revoke`, in the order of the help text. */
export const TOKEN_OPTIONS: typeof HOST_OPTIONS = HOST_OPTIONS

const NAME_OPTION = { name: { type: 'string', value: 'NAME', help: 'what the token is for' } } as const

/** The options of `forgelet token create`, in the order of the help text. */
export const TOKEN_CREATE_OPTIONS: typeof HOST_OPTIONS & typeof NAME_OPTION = { ...HOST_OPTIONS, ...NAME_OPTION }

/** The options of `forgelet doctor`, in the order of the help text. */
export const DOCTOR_OPTIONS: typeof HOST_OPTIONS = HOST_OPTIONS

/** The options that every command has. */
export const COMMON_OPTIONS = {
  json: { type: 'boolean', help: 'print results and errors as one JSON line' },
  help: { type: 'boolean', short: 'h', help: 'show this text' },
  version: { type: 'boolean', short: 'v', help: 'show the version' },
} as const

/** The commands and the options of each, without the common options. */
export const COMMANDS: {
  readonly serve: typeof SERVE_OPTIONS
  readonly schema: typeof SCHEMA_OPTIONS
  readonly issues: Record<never, never>
  readonly 'issues validate': typeof VALIDATE_OPTIONS
  readonly 'issues convert': typeof CONVERT_OPTIONS
  readonly 'issues import': typeof IMPORT_OPTIONS
  readonly 'issues export': typeof EXPORT_OPTIONS
  readonly token: Record<never, never>
  readonly 'token create': typeof TOKEN_CREATE_OPTIONS
  readonly 'token list': typeof TOKEN_OPTIONS
  readonly 'token revoke': typeof TOKEN_OPTIONS
  readonly doctor: typeof DOCTOR_OPTIONS
  readonly openapi: typeof OPENAPI_OPTIONS
} = {
  serve: SERVE_OPTIONS,
  schema: SCHEMA_OPTIONS,
  issues: {},
  'issues validate': VALIDATE_OPTIONS,
  'issues convert': CONVERT_OPTIONS,
  'issues import': IMPORT_OPTIONS,
  'issues export': EXPORT_OPTIONS,
  token: {},
  'token create': TOKEN_CREATE_OPTIONS,
  'token list': TOKEN_OPTIONS,
  'token revoke': TOKEN_OPTIONS,
  doctor: DOCTOR_OPTIONS,
  openapi: OPENAPI_OPTIONS,
}

/** The name of a command. */
export type Command = keyof typeof COMMANDS

type AnyOptions = typeof SERVE_OPTIONS &
  typeof SCHEMA_OPTIONS &
  typeof CONVERT_OPTIONS &
  typeof IMPORT_OPTIONS &
  typeof TOKEN_CREATE_OPTIONS &
  typeof OPENAPI_OPTIONS

/** The options without a value. */
type Flag = keyof typeof COMMON_OPTIONS | 'log-requests' | 'dry-run'

/** The values of the options; undefined = not given. */
export type OptionValues = { readonly [K in Exclude<keyof AnyOptions, Flag>]?: string } & {
  readonly [K in Flag]?: true
}
