import { parseArgs } from 'node:util'
import { CommandError } from './command.ts'
import { mayHoldPassword } from './database.ts'

/** A parsed command line: the command, the words after it, and the options of the command. */
export interface Arguments {
  readonly command: Command | undefined
  readonly words: readonly string[]
  readonly values: OptionValues
}

/**
 * Parses a command line.
 * @throws CommandError (wrong usage) for an unknown command or option, and for an option without its required value
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const [name, ...words] = tokens.flatMap((token) => (token.kind === 'positional' ? safeWord(token.value) : []))
  const command = commandNamed(name)
  const values: Record<string, string | true> = {}
  for (const token of tokens) {
    if (token.kind === 'option') values[nameOf(token, command)] = textOrTrue(token, command)
  }
  return { command, words, values }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
}

function parserOptions(): { [name: string]: { type: 'string' | 'boolean'; short?: string } } {
  const specs: readonly (readonly [string, OptionSpec])[] = [...Object.values(COMMANDS), COMMON_OPTIONS].flatMap(
    (options) => Object.entries<OptionSpec>(options),
  )
  return Object.fromEntries(
    specs.map(([name, { type, short }]) => [name, short === undefined ? { type } : { type, short }]),
  )
}

/**
 * Returns the options of a command. Without a command, the options of `serve` apply, because it is the command that
 * users most often omit.
 */
function specsOf(command: Command | undefined): ReadonlyMap<string, OptionSpec> {
  return new Map<string, OptionSpec>(Object.entries({ ...COMMANDS[command ?? 'serve'], ...COMMON_OPTIONS }))
}

function helpOf(command: Command | undefined): string {
  return `"forgelet ${command ?? 'serve'} --help"`
}

function nameOf({ name, rawName }: OptionToken, command: Command | undefined): string {
  if (specsOf(command).has(name)) return name
  const shown = mayHoldPassword(rawName) ? '' : ` ${rawName}`
  throw new CommandError(2, `unknown option${shown}: ${helpOf(command)} lists the options`)
}

function textOrTrue({ name, rawName, value }: OptionToken, command: Command | undefined): string | true {
  if (specsOf(command).get(name)?.type === 'boolean') {
    if (value === undefined) return true
    throw new CommandError(2, `${rawName} takes no value: write ${rawName} alone`)
  }
  // A negative number counts as a value. The check of the option reports whether it is in range.
  if (value !== undefined && value !== '' && !/^-(?!\d)/.test(value)) return safeValue(rawName, value)
  throw new CommandError(2, `${rawName} needs a value: see ${helpOf(command)}`)
}

/** The options whose values are URLs. The checks of these options report at most the scheme of a URL. */
const URL_OPTIONS: ReadonlySet<string> = new Set(['--db', '--public-url'])

/**
 * Refuses a value that may hold a password. Error messages show words and the values of most options, and a misplaced
 * password must not appear in them.
 */
function safeValue(rawName: string, value: string): string {
  if (URL_OPTIONS.has(rawName) || !mayHoldPassword(value)) return value
  throw new CommandError(2, `${rawName}: the value looks like the address of a database, which is given with --db`)
}

function safeWord(word: string): string {
  if (!mayHoldPassword(word)) return word
  throw new CommandError(2, 'an argument looks like the address of a database, which is given with --db')
}

function commandNamed(name: string | undefined): Command | undefined {
  if (name === undefined || name === 'serve' || name === 'schema' || name === 'openapi') return name
  throw new CommandError(
    2,
    `unknown command "${name}": the commands are "serve", "schema" and "openapi"; see "forgelet --help"`,
  )
}

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
  readonly openapi: typeof OPENAPI_OPTIONS
} = {
  serve: SERVE_OPTIONS,
  schema: SCHEMA_OPTIONS,
  openapi: OPENAPI_OPTIONS,
}

/** The name of a command. */
export type Command = keyof typeof COMMANDS

/** The values of the options; undefined = not given. */
export type OptionValues = {
  readonly [K in keyof typeof SERVE_OPTIONS | keyof typeof SCHEMA_OPTIONS | keyof typeof OPENAPI_OPTIONS]?: string
} & {
  readonly [K in keyof typeof COMMON_OPTIONS]?: true
}

/** Returns the text that `forgelet --help` prints. */
export function mainHelp(): string {
  return `forgelet - issue pins, organization blocks, badges and signing keys of a code forge

Usage
  forgelet serve [options]                       serve the Gitea API from a database
  forgelet schema status|plan|apply [options]    check and create the tables of a database
  forgelet openapi [options]                     write the OpenAPI document of that API
  forgelet COMMAND --help                        the options of a command

${optionList(COMMON_OPTIONS)}`
}

/** Returns the text that `forgelet COMMAND --help` prints. */
export function commandHelp(command: Command): string {
  return HELP[command]()
}

const HELP: { readonly [C in Command]: () => string } = {
  serve: serveHelp,
  schema: schemaHelp,
  openapi: openapiHelp,
}

function serveHelp(): string {
  return `forgelet serve - a small code forge with the Gitea API, in SQLite, PostgreSQL or MariaDB

Usage
  forgelet serve [options]

Options
${optionList(SERVE_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc
  forgelet serve --db postgres://forge@db.example.com/forge --fixture world.json

The environment variable FORGELET_DB is used if --db is not given. Use it for a URL with a password:
other users of the machine can see the command line, but not the environment.
Any number of servers can use one database. The first loads the fixture.
The API is at http://HOST:PORT/api/v1. Its documentation, where you can also send requests, is at
http://HOST:PORT/api/swagger. The fixture format is in docs/fixture.md.
Exit codes: 0 stopped by a signal, 1 invalid fixture or key, 2 wrong usage or port in use,
3 the database cannot be used.`
}

function schemaHelp(): string {
  return `forgelet schema - the tables that keep pins, blocks, badges and events

Usage
  forgelet schema status [options]    show their state, and settings that endanger data
  forgelet schema plan [options]      print the SQL that creates them, without a connection
  forgelet schema apply [options]     create or update them, also while they are in use

Options
${optionList(SCHEMA_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet schema plan --db postgres:// --schema forge --ids user=uuid > forgelet.sql
  forgelet schema apply --db postgres://forge@db.example.com/forge
  forgelet schema status --db forgelet.sqlite --json

The environment variable FORGELET_DB is used if --db is not given. Use it for a URL with a password:
other users of the machine can see the command line, but not the environment.
status prints current, outdated, too-new, drifted or empty, and warnings.
Exit codes: 0 done (status: current, and no warnings), 1 status: anything else, 2 wrong usage,
3 the database cannot be used.`
}

function openapiHelp(): string {
  return `forgelet openapi - the OpenAPI 3.1 document of the API, as JSON

Usage
  forgelet openapi [options]

Options
${optionList(OPENAPI_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet openapi -o openapi.json
  forgelet openapi --public-url https://git.example.com

"forgelet serve" serves the same document at /api/v1/openapi.json. No server or database is needed.
With --json it is one line. Exit codes: 0 done, 2 wrong usage or the file cannot be written.`
}

function optionList(options: { readonly [name: string]: OptionSpec }): string {
  return Object.entries(options).map(optionLine).join('\n')
}

function optionLine([name, { short, value, help, standard }]: readonly [string, OptionSpec]): string {
  const left = `--${name}${short === undefined ? '' : `, -${short}`}${value === undefined ? '' : ` ${value}`}`
  const right = standard === undefined ? help : `${help} (default ${standard})`
  return `  ${left.padEnd(20)} ${right}`
}
