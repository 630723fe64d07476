/** One option of the command line. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** Its letter. */
  readonly short?: string
  /** What its value is called in the help. */
  readonly value?: string
  readonly help: string
  /** As the help shows it. */
  readonly standard?: string
}

/** The options of `forgelet serve`, in the order of the help. */
export const SERVE_OPTIONS = {
  db: {
    type: 'string',
    value: 'FILE',
    help: 'SQLite file, made when missing, or :memory:',
    standard: 'forgelet.sqlite',
  },
  fixture: { type: 'string', value: 'FILE', help: 'users, repositories, issues (JSON or YAML) for an empty database' },
  host: { type: 'string', value: 'HOST', help: 'address to listen on', standard: '127.0.0.1' },
  port: { type: 'string', value: 'PORT', help: 'port to listen on; 0 takes a free one', standard: '3000' },
  'signing-key': { type: 'string', value: 'FILE', help: 'OpenPGP or SSH key; only its public half is served' },
  'max-pins': { type: 'string', value: 'N', help: 'pins of each kind in a repository, 0 to 1000', standard: '3' },
  'public-url': { type: 'string', value: 'URL', help: 'where clients reach the API, when not at HOST and PORT' },
} as const

/** The options of `forgelet schema`, in the order of the help. */
export const SCHEMA_OPTIONS = {
  db: {
    type: 'string',
    value: 'URL|FILE',
    help: 'postgres://…, mysql://…, or an SQLite file',
    standard: 'forgelet.sqlite',
  },
  prefix: { type: 'string', value: 'PREFIX', help: 'begins the name of every table', standard: 'forgelet_' },
  schema: { type: 'string', value: 'SCHEMA', help: 'schema of the tables, on PostgreSQL' },
  ids: { type: 'string', value: 'LIST', help: 'column types of ids, such as user=uuid,issue=text', standard: 'bigint' },
  from: { type: 'string', value: 'N', help: 'plan: the version that the tables have now', standard: '0' },
} as const

/** The options of `forgelet openapi`, in the order of the help. */
export const OPENAPI_OPTIONS = {
  out: { type: 'string', short: 'o', value: 'FILE', help: 'write it there, not to stdout' },
  'public-url': { type: 'string', value: 'URL', help: 'where clients reach the API, for its list of servers' },
} as const

/** The options every command has. */
export const COMMON_OPTIONS = {
  json: { type: 'boolean', help: 'results and errors as one JSON line' },
  help: { type: 'boolean', short: 'h', help: 'show this text' },
  version: { type: 'boolean', short: 'v', help: 'show the version' },
} as const

/** The commands, and the options that each has beside the common ones. */
export const COMMANDS: {
  readonly serve: typeof SERVE_OPTIONS
  readonly schema: typeof SCHEMA_OPTIONS
  readonly openapi: typeof OPENAPI_OPTIONS
} = {
  serve: SERVE_OPTIONS,
  schema: SCHEMA_OPTIONS,
  openapi: OPENAPI_OPTIONS,
}

/** The name of a command. */
export type Command = keyof typeof COMMANDS

/** What the command line says; undefined = not given. */
export type OptionValues = {
  readonly [K in keyof typeof SERVE_OPTIONS | keyof typeof SCHEMA_OPTIONS | keyof typeof OPENAPI_OPTIONS]?: string
} & {
  readonly [K in keyof typeof COMMON_OPTIONS]?: true
}
