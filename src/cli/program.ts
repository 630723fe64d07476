import type { CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings'
import { Argument, Command, Option } from '@commander-js/extra-typings'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, packageVersion } from './command.ts'
import { completionScript, SHELLS } from './completion.ts'
import { doctor } from './doctor.ts'
import { convert } from './issues/convert.ts'
import { exportIssues } from './issues/export.ts'
import { importIssues } from './issues/import.ts'
import { repositoryName } from './issues/repository-name.ts'
import { validate } from './issues/validate.ts'
import { openapi } from './openapi.ts'
import { parsePublicUrl } from './public-url.ts'
import { applySchema, idColumns, planSchemaOf, schemaStatus } from './schema.ts'
import { serve } from './serve.ts'
import { createToken, createUserWithToken, listTokens, revokeToken } from './token.ts'

/** The options whose values are URLs. Their checks report at most the scheme of a URL. */
export const URL_OPTIONS: ReadonlySet<string> = new Set(['--db', '--public-url'])

/** The options whose value may be `-`, for a standard stream. */
const STREAM_OPTIONS: ReadonlySet<string> = new Set(['--out'])

/** The width of the help text, on every terminal. */
const HELP_WIDTH = 100

/**
 * Creates the program: every command with its arguments, options, defaults and help.
 *
 * @param run - receives the work of the command that was called
 */
export function createProgram(io: CommandIO, run: (work: Promise<ExitCode>) => Promise<void>): CommandUnknownOpts {
  const program = new Command('forgelet')
    .description('issue pins, organization blocks, badges, signing keys and issues of a code forge')
    .version(packageVersion(), '-v, --version', 'show the version')
    .helpOption('-h, --help', 'show this text')
    .helpCommand('help [command]', 'show the help of a command')
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: () => undefined, // the error is thrown, and printed by the caller
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })

  inDatabase(named(program, 'serve'), 'SQLite file or :memory:')
    .description('serve the Gitea API from a database')
    .option('--fixture <file>', 'users, repositories, issues (JSON or YAML) for an empty database')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', integer('--port', 65_535), 3000)
    .option('--signing-key <file>', 'OpenPGP or SSH key; only its public half is served')
    .option('--max-pins <n>', 'pins of each kind in a repository, 0 to 1000', integer('--max-pins', 1000), 3)
    .option('--public-url <url>', 'URL of the API for clients, if not host and port', parsePublicUrl)
    .option(
      '--shutdown-timeout <n>',
      'seconds that requests may take to finish after SIGTERM, 0 to 3600',
      integer('--shutdown-timeout', 3600),
      8,
    )
    .option('--log-requests', 'log a line for each request: method, path, status, milliseconds')
    .addHelpText('after', SERVE)
    .action((options) => run(serve(options, io)))

  const schema = program.command('schema').description('check and create the tables of a database')
  inDatabase(named(schema, 'status'), 'or an SQLite file')
    .description('show the state of the tables, and settings that endanger data')
    .option('--ids <list>', IDS, idColumns)
    .addHelpText('after', SCHEMA_STATUS)
    .action((options) => run(schemaStatus(options, io)))
  inDatabase(named(schema, 'plan'), 'or an SQLite file')
    .description('print the SQL that creates the tables, without a connection')
    .option('--ids <list>', IDS, idColumns)
    .option('--from <n>', 'the current version of the tables', integer('--from', 999_999), 0)
    .addHelpText('after', SCHEMA_PLAN)
    .action((options) => run(planSchemaOf(options, io)))
  inDatabase(named(schema, 'apply'), 'or an SQLite file')
    .description('create or update the tables, also while they are in use')
    .option('--ids <list>', IDS, idColumns)
    .addHelpText('after', SCHEMA_APPLY)
    .action((options) => run(applySchema(options, io)))

  const issues = program.command('issues').description('check, convert and move issues')
  ofSource(named(issues, 'validate'))
    .description('check a source of issues, and list what is wrong')
    .addHelpText('after', VALIDATE)
    .action((path, options) => run(validate(path, options, io)))
  ofSource(named(issues, 'convert'))
    .description('write a source as an issue document or a Gitea dump')
    .requiredOption('-o, --out <out>', 'file, or folder of a dump, to write; - is standard output')
    .addOption(new Option('--to <format>', 'what to write').choices(TARGETS).default(TARGETS[0]))
    .option('--repo <owner/name>', 'repository that a dump is of', repositoryName)
    .addHelpText('after', CONVERT)
    .action((path, options) => run(convert(path, options, io)))
  inDatabase(ofSource(named(issues, 'import')), 'or an SQLite file')
    .description('write a source into a repository of "forgelet serve"')
    .requiredOption('--repo <owner/name>', 'repository in the database', repositoryName)
    .option('--dry-run', 'report what the import would do, and write nothing')
    .addOption(
      new Option('--on-conflict <how>', 'issues that exist and differ').choices(ON_CONFLICT).default(ON_CONFLICT[0]),
    )
    .addOption(
      new Option('--attribution <how>', 'names: keep names as text; accounts: attribute to accounts')
        .choices(ATTRIBUTION)
        .default(ATTRIBUTION[0]),
    )
    .option('--users <file>', 'map of names to accounts, or to null (JSON or YAML)')
    .addHelpText('after', IMPORT)
    .action((path, options) => run(importIssues(path, options, io)))
  inDatabase(named(issues, 'export'), 'or an SQLite file')
    .description('write the issues of a repository of "forgelet serve"')
    .requiredOption('--repo <owner/name>', 'repository in the database', repositoryName)
    .option('-o, --out <out>', 'file to write; - is standard output', '-')
    .addHelpText('after', EXPORT)
    .action((options) => run(exportIssues(options, io)))

  const users = program.command('user').description('the users of "forgelet serve"')
  inDatabase(named(users, 'create').argument('<name>'), 'or an SQLite file')
    .description('create a user, and print an access token once')
    .option('--admin', 'make the user a site administrator')
    .addHelpText('after', USER_CREATE)
    .action((user, options) => run(createUserWithToken(user, options, io)))

  const tokens = program.command('token').description('the access tokens of a user of "forgelet serve"')
  inDatabase(named(tokens, 'create').argument('<user>'), 'or an SQLite file')
    .description('create a token, and print it once')
    .option('--name <name>', 'what the token is for', nameOfToken)
    .addHelpText('after', TOKEN_CREATE)
    .action((user, options) => run(createToken(user, options, io)))
  inDatabase(named(tokens, 'list').argument('<user>'), 'or an SQLite file')
    .description('show ids, times and names, not the tokens')
    .addHelpText('after', TOKEN_LIST)
    .action((user, options) => run(listTokens(user, options, io)))
  inDatabase(named(tokens, 'revoke').argument('<user>').argument('<id>'), 'or an SQLite file')
    .description('make a token invalid')
    .addHelpText('after', TOKEN_REVOKE)
    .action((user, id, options) => run(revokeToken(user, id, options, io)))

  inDatabase(named(program, 'doctor'), 'or an SQLite file')
    .description('check the database of "forgelet serve", without changing it')
    .addHelpText('after', DOCTOR)
    .action((options) => run(doctor(options, io)))
  named(program, 'openapi')
    .description('write the OpenAPI 3.1 document of the API, as JSON')
    .option('-o, --out <file>', 'write to a file instead of stdout')
    .option('--public-url <url>', 'URL of the API for clients, for the list of servers', parsePublicUrl)
    .addHelpText('after', OPENAPI)
    .action((options) => run(openapi(options, io)))
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', COMPLETION)
    .action((shell) => run(printed(io, completionScript(program, shell))))

  refuseWrongUsage(program)
  return program
}

const IDS = 'column types of ids, such as user=uuid,issue=text (default: bigint)'
const TARGETS = ['document', 'gitea-dump'] as const
const ON_CONFLICT = ['refuse', 'skip', 'update'] as const
const ATTRIBUTION = ['names', 'accounts'] as const
const FORMATS = ['document', 'github', 'gitlab', 'gitea', 'gitea-dump'] as const

/** Adds a command with the option that all of them have. */
function named(parent: Command, name: string) {
  return parent.command(name).option('--json', 'print results and errors as one JSON line')
}

/** Adds the options that find a database. */
function inDatabase<A extends unknown[], O extends OptionValues>(command: Command<A, O>, files: string) {
  return command
    .option('--db <url|file>', `postgres://…, mysql://…, ${files} (default: FORGELET_DB, or forgelet.sqlite)`)
    .option('--prefix <prefix>', 'prefix of every table name')
    .option('--schema <schema>', 'schema of the tables, on PostgreSQL')
}

/** Adds what names a source of issues. */
function ofSource<O extends OptionValues>(command: Command<[], O>) {
  return command
    .argument('<source>', 'a file, a folder that a forge wrote, or - for standard input')
    .addOption(new Option('--from <format>', 'format of the source, if it is not recognized').choices(FORMATS))
    .addOption(
      new Option('--confidential <keep>', 'also read what not every reader of its forge may see').choices(['keep']),
    )
}

/** Returns the check of an option that is an integer from 0. @throws CommandError (wrong usage), when it checks */
function integer(name: string, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value <= most) return value
    throw new CommandError(2, `${name} ${text}: give an integer from 0 to ${most}`)
  }
}

const MAX_NAME_LENGTH = 255

function nameOfToken(text: string): string {
  if (text.length <= MAX_NAME_LENGTH) return text
  throw new CommandError(2, `--name: give at most ${MAX_NAME_LENGTH} characters`)
}

async function printed(io: CommandIO, text: string): Promise<ExitCode> {
  io.out(text)
  return 0
}

/**
 * Ends wrong usage of a command, and of those below it, with a CommandError that names the help. The next option is no
 * value: the value was left out. A negative number is one, and the check of its option refuses it.
 */
function refuseWrongUsage(command: CommandUnknownOpts): void {
  const help = `see "${nameOf(command)} --help"`
  command.exitOverride(({ code, message, exitCode }) => {
    if (exitCode === 0) throw new ShownHelp()
    const names = command.commands.map((sub) => sub.name()).join(', ')
    const wrong = code === 'commander.help' ? `name a command: ${names}` : message.replace(/^error: |\.$/g, '')
    throw new CommandError(2, `${wrong}; ${help}`)
  })
  for (const option of command.options.filter(({ required }) => required)) {
    const name = option.long ?? option.flags
    const parse = option.parseArg
    option.argParser((text: string, previous: unknown) => {
      const isValue = text === '-' ? STREAM_OPTIONS.has(name) : text !== '' && !/^-(?!\d)/.test(text)
      if (!isValue) throw new CommandError(2, `${name} needs a value; ${help}`)
      return parse === undefined ? text : parse(text, previous)
    })
  }
  for (const sub of command.commands) refuseWrongUsage(sub)
}

/** Ends a command line that asked for the help or the version, which is printed. */
export class ShownHelp extends Error {}

function nameOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

const ENVIRONMENT = `The environment variable FORGELET_DB is used if --db is not given. Use it for a URL with a password:
other users of the machine can see the command line, but not the environment.`

const SERVE = `
Examples
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc
  forgelet serve --db postgres://forge@db.example.com/forge --fixture world.json

${ENVIRONMENT}
Any number of servers can use one database. The first loads the fixture.
The API is at http://HOST:PORT/api/v1. Its documentation, where you can also send requests, is at
http://HOST:PORT/api/swagger. The fixture format is in docs/fixture.md.
/healthz is 200 while the process runs. /readyz is 200 while the server accepts requests and can use
its database, otherwise 503 with the reason.
SIGTERM or Ctrl-C: requests in progress finish, later ones get 503 with "Connection: close".
The log is on stderr, with --json one JSON object a line: time, level, message, and more fields.
Exit codes: 0 stopped by a signal, 1 invalid fixture or key, 2 wrong usage or port in use,
3 the database cannot be used, 130 or 143 ended by a second signal.`

const SCHEMA_STATUS = `
Examples
  forgelet schema status --db forgelet.sqlite --json

${ENVIRONMENT}
It prints current, outdated, too-new, drifted or empty, and warnings.
Exit codes: 0 current and no warnings, 1 anything else, 2 wrong usage,
3 the database cannot be used.`

const SCHEMA_PLAN = `
Examples
  forgelet schema plan --db postgres:// --schema forge --ids user=uuid > forgelet.sql

Exit codes: 0 done, 2 wrong usage.`

const SCHEMA_APPLY = `
Examples
  forgelet schema apply --db postgres://forge@db.example.com/forge

${ENVIRONMENT}
Exit codes: 0 done, 1 the tables are not current, 2 wrong usage, 3 the database cannot be used.`

const SOURCES = `SOURCE is a file, a folder that a forge wrote, or - for standard input: an issue document, a list
that GitHub or Gitea serves, a Gitea dump, or an unpacked GitLab export. docs/exchange.md describes
them, and what each of them loses.`

const VALIDATE = `
Examples
  forgelet issues validate issues.json
  gh api --paginate 'repos/acme/rocket/issues?state=all' | forgelet issues validate - --json

${SOURCES}
The first 100 violations are listed, each with its file, line and JSON pointer, and what was
expected.
Exit codes: 0 valid, 1 not valid, 2 wrong usage or the source cannot be read, 3 stopped by a signal.`

const CONVERT = `
Examples
  forgelet issues convert github-issues.json -o issues.json
  forgelet issues convert gitlab-export -o dump --to gitea-dump --repo acme/rocket
  forgelet issues convert dump -o - | gzip > issues.json.gz

${SOURCES}
OUT appears whole or not at all. A document has issues only; a dump also has labels, milestones and
comments, and OUT must be a new or empty folder.
If the document goes to standard output, messages and --json go to standard error.
Exit codes: 0 done, 1 the source is not valid, 2 wrong usage or a file cannot be read or written,
3 stopped by a signal.`

const IMPORT = `
Examples
  forgelet issues import issues.json --repo acme/rocket --db forge.sqlite --dry-run
  forgelet issues import gitlab-export --repo acme/rocket --attribution accounts --users users.json

${SOURCES}
SOURCE is checked whole before the first issue is written. Numbers are kept. An issue that exists
and is the same is left, so an import that was broken off is finished by running it again.
${ENVIRONMENT}
Exit codes: 0 done, 1 the source is not valid, a conflict, or no such repository, 2 wrong usage or a
file cannot be read, 3 the database cannot be used, or stopped by a signal.`

const EXPORT = `
Examples
  forgelet issues export --repo acme/rocket --db forge.sqlite -o issues.json
  forgelet issues export --repo acme/rocket | gzip > issues.json.gz

The document has the issues in ascending order of their numbers, without comments, and with e-mail
addresses. OUT appears whole or not at all.
${ENVIRONMENT}
Exit codes: 0 done, 1 no such repository, 2 wrong usage or the file cannot be written,
3 the database cannot be used, or stopped by a signal.`

const TOKEN_RULES = `${ENVIRONMENT}
The servers may run meanwhile: they accept a new token at once, and answer a revoked one with 401.
Only the SHA-256 of a token is stored. Exit codes: 0 done, 1 unknown user or token, 2 wrong usage,
3 the database cannot be used.`

const USER_CREATE = `
Examples
  forgelet user create alice --admin --db forgelet.sqlite

${ENVIRONMENT}
"forgelet serve" makes the tables; it may run meanwhile, and accepts the token at once. Only the
SHA-256 of a token is stored. "forgelet token" makes more tokens, and revokes them.
Exit codes: 0 done, 1 the name is taken, 2 wrong usage or no name for a user,
3 the database cannot be used.`

const TOKEN_CREATE = `
Examples
  forgelet token create alice --name ci --db forgelet.sqlite

${TOKEN_RULES}`

const TOKEN_LIST = `
Examples
  forgelet token list alice --db postgres://forge@db.example.com/forge --json

${TOKEN_RULES}`

const TOKEN_REVOKE = `
Examples
  forgelet token revoke alice 9f86d081884c

${TOKEN_RULES}`

const DOCTOR = `
Examples
  forgelet doctor --db forgelet.sqlite
  forgelet doctor --db postgres://forge@db.example.com/forge --json

It prints the state of the tables of the forge and of the server, the settings that endanger data,
and what to do about each. The forge may be that of an application.
${ENVIRONMENT}
Exit codes: 0 all is well, 1 something should be done, 2 wrong usage,
3 the database cannot be reached or read.`

const OPENAPI = `
Examples
  forgelet openapi -o openapi.json
  forgelet openapi --public-url https://git.example.com

"forgelet serve" serves the same document at /api/v1/openapi.json. No server or database is needed.
With --json it is one line. Exit codes: 0 done, 2 wrong usage or the file cannot be written.`

const COMPLETION = `
Examples
  source <(forgelet completion bash)
  source <(forgelet completion zsh)
  forgelet completion fish | source`
