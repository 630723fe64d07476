import type { CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings'
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, packageVersion } from './command.ts'
import { completionScript, SHELLS } from './completion.ts'
import { mayHoldPassword } from './database.ts'
import { helpBelow } from './help-texts.ts'
import { convert } from './issues/convert.ts'
import { exportIssues } from './issues/export.ts'
import { importIssues } from './issues/import.ts'
import { repositoryName } from './issues/open-repository.ts'
import { reattribute } from './issues/reattribute.ts'
import { validate } from './issues/validate.ts'
import { generateKeyFiles, showKey } from './keys.ts'
import { apiDocument, parsePublicUrl } from './pages.ts'
import { applySchema, doctor, idColumns, planSchema, schemaStatus } from './schema.ts'
import { serve } from './serve.ts'
import { createToken, createUserWithToken, listTokens, revokeToken } from './token.ts'

/** Runs one command line and returns the exit code. */
export async function runCli(args: readonly string[], io: CommandIO): Promise<ExitCode> {
  let code: ExitCode = 0
  const program = createProgram(io, async (work) => {
    code = await work
  })
  try {
    refuseMisplacedPassword(args)
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return 0 // it has shown the help or the version
    if (!(error instanceof CommandError)) throw error

    const lines = args.includes('--json') ? [asJson(error)] : error.lines()
    for (const line of lines) io.err(line)
    return error.exitCode
  }
}

/** The options whose values are URLs. Their checks report at most the scheme of a URL. */
const URL_OPTIONS: ReadonlySet<string> = new Set(['--db', '--public-url'])

/**
 * Refuses a word that may hold a password where no URL belongs. Error messages show words and the values of most
 * options, and a misplaced password must not appear in them.
 */
function refuseMisplacedPassword(args: readonly string[]): void {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const isMisplaced = args.some((arg, at) => {
    const [, name = args[at - 1] ?? '', value = arg] = /^(--[\w-]+)=(.*)$/s.exec(arg) ?? []
    return mayHoldPassword(value) && (at > end || !URL_OPTIONS.has(name))
  })
  if (isMisplaced) {
    throw new CommandError(2, 'an argument looks like the address of a database, which is given with --db')
  }
}

function asJson({ message, exitCode, violations }: CommandError): string {
  return JSON.stringify({ error: { message, exitCode, violations } })
}

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
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: () => undefined, // the error is thrown, and printed by the caller
      getOutHelpWidth: () => HELP_WIDTH,
    })

  inDatabase(named(program, 'serve'), 'SQLite file or :memory:')
    .description('serve the Gitea API from a database')
    .option('--fixture <file>', 'users, repositories, issues (JSON or YAML) for an empty database')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', integer(65_535), 3000)
    .option('--signing-key <file|git>', SIGNING_KEY, (name, others: readonly string[] = []) => [...others, name])
    .option('--max-pins <n>', 'pins of each kind in a repository, 0 to 1000', integer(1000), 3)
    .option('--public-url <url>', 'URL of the API for clients, if not host and port', parsePublicUrl)
    .option(
      '--shutdown-timeout <n>',
      'seconds that requests may take to finish after SIGTERM, 0 to 3600',
      integer(3600),
      8,
    )
    .option('--log-requests', 'log a line for each request: method, path, status, milliseconds')
    .action((options) => run(serve(options, io)))

  const schema = program.command('schema').description('check and create the tables of a database')
  inDatabase(named(schema, 'status'))
    .description('show the state of the tables, and settings that endanger data')
    .option('--ids <list>', IDS, idColumns)
    .action((options) => run(schemaStatus(options, io)))
  inDatabase(named(schema, 'plan'))
    .description('print the SQL that creates the tables, without a connection')
    .option('--ids <list>', IDS, idColumns)
    .action((options) => run(planSchema(options, io)))
  inDatabase(named(schema, 'apply'))
    .description('create or update the tables, also while they are in use')
    .option('--ids <list>', IDS, idColumns)
    .action((options) => run(applySchema(options, io)))

  const issues = program.command('issues').description('check, convert and move issues')
  ofSource(named(issues, 'validate'))
    .description('check a source of issues, and list what is wrong')
    .action((path, options) => run(validate(path, options, io)))
  ofSource(named(issues, 'convert'))
    .description('write a source as an issue document, a Gitea dump or CSV')
    .requiredOption('-o, --out <out>', 'file, or folder of a dump, to write; - is standard output')
    .addOption(choice('--to <format>', 'what to write', TARGETS))
    .option('--repo <owner/name>', 'repository that a dump is of', repositoryName)
    .action((path, options) => run(convert(path, options, io)))
  inDatabase(ofSource(named(issues, 'import')))
    .description('write a source into a repository of "forgelet serve"')
    .requiredOption('--repo <owner/name>', 'repository in the database', repositoryName)
    .option('--dry-run', 'report what the import would do, and write nothing')
    .addOption(choice('--on-conflict <how>', 'issues that exist and differ', ON_CONFLICT))
    .addOption(choice('--attribution <how>', 'names: keep names as text; accounts: attribute to accounts', ATTRIBUTION))
    .option('--users <file>', 'map of names to accounts, or to null (JSON or YAML)')
    .action((path, options) => run(importIssues(path, options, io)))
  inDatabase(named(issues, 'reattribute'))
    .description('give accounts to people who were imported by their names')
    .requiredOption('--repo <owner/name>', 'repository in the database', repositoryName)
    .requiredOption('--users <file>', 'map of names to accounts (JSON or YAML)')
    .action((options) => run(reattribute(options, io)))
  inDatabase(named(issues, 'export'))
    .description('write the issues of a repository of "forgelet serve"')
    .requiredOption('--repo <owner/name>', 'repository in the database', repositoryName)
    .option('-o, --out <out>', 'file to write; - is standard output', '-')
    .action((options) => run(exportIssues(options, io)))

  const users = program.command('user').description('the users of "forgelet serve"')
  inDatabase(named(users, 'create').argument('<name>'))
    .description('create a user, and print an access token once')
    .option('--admin', 'make the user a site administrator')
    .action((user, options) => run(createUserWithToken(user, options, io)))

  const tokens = program.command('token').description('the access tokens of a user of "forgelet serve"')
  inDatabase(named(tokens, 'create').argument('<user>'))
    .description('create a token, and print it once')
    .option('--name <name>', 'what the token is for')
    .action((user, options) => run(createToken(user, options, io)))
  inDatabase(named(tokens, 'list').argument('<user>'))
    .description('show ids, times and names, not the tokens')
    .action((user, options) => run(listTokens(user, options, io)))
  inDatabase(named(tokens, 'revoke').argument('<user>').argument('<id>'))
    .description('make a token invalid')
    .action((user, id, options) => run(revokeToken(user, id, options, io)))

  const keys = program.command('keys').description('the signing key of an instance')
  named(keys, 'show')
    .argument('<key>', 'a key file, or git for the key that git signs with in this folder')
    .description('show format, fingerprint, owner and times of a key')
    .action((key, options) => run(showKey(key, options, io)))
  named(keys, 'generate')
    .description('make a signing key without a passphrase')
    .addOption(choice('--format <format>', 'format of the key', KEY_FORMATS))
    .requiredOption('--name <name>', 'name of the signer, such as that of the instance')
    .requiredOption('--email <address>', 'e-mail address of the signer')
    .requiredOption('-o, --out <file>', 'new file for the private key; the public key is in FILE.pub')
    .action((options) => run(generateKeyFiles(options, io)))

  inDatabase(named(program, 'doctor'))
    .description('check the database of "forgelet serve" or of an application, without changing it')
    .option('--ids <list>', IDS, idColumns)
    .action((options) => run(doctor(options, io)))
  named(program, 'openapi')
    .description('write the OpenAPI 3.1 document of the API, as JSON')
    .option('--public-url <url>', 'URL of the API for clients, for the list of servers', parsePublicUrl)
    .action(({ publicUrl, json }) => io.out(JSON.stringify(apiDocument(publicUrl), undefined, json ? 0 : 2)))
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell) => io.out(completionScript(program, shell)))

  complete(program)
  return program
}

const IDS = 'column types of ids, such as user=uuid,issue=text (default: bigint)'
const SIGNING_KEY = 'key whose public half is served; again for former keys, which verify only'
const KEY_FORMATS = ['ssh', 'openpgp'] as const
const TARGETS = ['document', 'gitea-dump', 'csv'] as const
const ON_CONFLICT = ['refuse', 'skip', 'update'] as const
const ATTRIBUTION = ['names', 'accounts'] as const
const FORMATS = ['document', 'github', 'gitlab', 'gitlab-rest', 'gitea', 'gitea-dump'] as const

/** Adds a command with the option that all of them have. */
function named(parent: Command, name: string) {
  return parent.command(name).option('--json', 'print results and errors as one JSON line')
}

/** Returns an option that has one of a few values, of which the first is the default. */
function choice<Flags extends string, const Value extends string>(
  flags: Flags,
  description: string,
  values: readonly [Value, ...Value[]],
) {
  return new Option(flags, description).choices(values).default(values[0])
}

/** Adds the options that find a database. */
function inDatabase<A extends unknown[], O extends OptionValues>(command: Command<A, O>, files = 'or an SQLite file') {
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
    .addOption(new Option('--minimized <keep>', 'also read comments that their forge folds away').choices(['keep']))
    .option('--quiet', 'leave out what the source has and a record has not')
}

/** Returns the parser of an option that is an integer from 0. */
function integer(most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value <= most) return value
    throw new InvalidArgumentError(`Give an integer from 0 to ${most}`)
  }
}

/**
 * Completes a command and those below it: adds examples to its help, and ends wrong usage with a CommandError that names
 * the help.
 */
function complete(command: CommandUnknownOpts): void {
  const name = nameOf(command)
  const subcommands = command.commands.map((sub) => sub.name()).join(', ')
  const hasDatabase = command.options.some(({ long }) => long === '--db')
  if (subcommands === '') command.addHelpText('after', helpBelow(name.replace('forgelet ', ''), hasDatabase))
  command.exitOverride((error) => {
    if (error.exitCode === 0) throw error // it has shown what was asked for
    const isIncomplete = error.code === 'commander.help'
    const wrong = isIncomplete ? `name a command: ${subcommands}` : error.message.replace(/^error: |\.$/g, '')
    throw new CommandError(2, `${wrong}; see "${name} --help"`)
  })
  for (const sub of command.commands) complete(sub)
}

function nameOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}
