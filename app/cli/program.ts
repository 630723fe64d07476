import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { Command, CommanderError } from '@commander-js/extra-typings'
import { addOrganizations, addRepositories, addTokens, addUsers } from './accounts.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, EXIT_CODES, newCommand, packageVersion } from './command.ts'
import { addCopy } from './copy.ts'
import { mayHoldPassword } from './database.ts'
import { addConvert } from './issues/convert.ts'
import { addExport } from './issues/export.ts'
import { addImport } from './issues/import.ts'
import { addReattribute } from './issues/reattribute.ts'
import { addValidate } from './issues/validate.ts'
import { addKeys } from './keys.ts'
import { apiDocument, parsePublicUrl } from './pages.ts'
import { addDoctor, addSchema } from './schema.ts'
import { addServe } from './serve.ts'

/** Runs one command line and returns the exit code. */
export async function runCli(args: readonly string[], io: CommandIO): Promise<ExitCode> {
  try {
    refuseMisplacedPassword(args)
    await createProgram(io).parseAsync(args, { from: 'user' })
    return io.exitCode ?? 0
  } catch (error) {
    if (error instanceof CommanderError) return 0 // it has shown the help or the version
    const isStopped = io.stop.aborted && error === io.stop.reason
    const ending = isStopped ? new CommandError(3, 'stopped before the end') : error
    if (!(ending instanceof CommandError)) throw error

    const { message, exitCode, violations } = ending
    const lines = args.includes('--json')
      ? [JSON.stringify({ error: { message, exitCode, violations } })]
      : ending.lines()
    for (const line of lines) io.err(line)
    return exitCode
  }
}

/** The options whose values are URLs. Their checks report at most the scheme of a URL. */
const URL_OPTIONS: ReadonlySet<string> = new Set(['--db', '--public-url', '--cors', '--original-url'])
/** Those of "forgelet copy". Elsewhere `--from` is a format, which messages show. */
const COPY_URLS: ReadonlySet<string> = new Set(['--from', '--to'])

/**
 * Refuses a word that may hold a password where no URL belongs. Error messages show words and the values of most
 * options, and a misplaced password must not appear in them.
 */
function refuseMisplacedPassword(args: readonly string[]): void {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const isMisplaced = args.some((arg, at) => {
    const [, name = args[at - 1] ?? '', value = arg] = /^(--[\w-]+)=(.*)$/s.exec(arg) ?? []
    const isUrl = URL_OPTIONS.has(name) || (args[0] === 'copy' && COPY_URLS.has(name))
    return mayHoldPassword(value) && (at > end || !isUrl)
  })
  if (isMisplaced) {
    throw new CommandError(2, 'an argument looks like the address of a database, which is given with --db')
  }
}

/** The width of the help text, on every terminal. */
const HELP_WIDTH = 100

/** Creates the program: every command with its arguments, options, defaults and help. */
export function createProgram(io: CommandIO): CommandUnknownOpts {
  const program = new Command('forgelet')
    .description('issue pins, organization blocks, badges, signing keys and issues of a code forge')
    .version(packageVersion(), '-v, --version', 'show the version')
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: () => undefined, // the error is thrown, and printed by the caller
      getOutHelpWidth: () => HELP_WIDTH,
    })

  addServe(program, io)
  addSchema(program.command('schema').description('check and create the tables of a database'), io)
  const issues = program.command('issues').description('check, convert and move issues')
  for (const add of [addValidate, addConvert, addImport, addReattribute, addExport]) add(issues, io)
  addUsers(program.command('user').description('the users of "forgelet serve"'), io)
  addOrganizations(program.command('org').description('the organizations of "forgelet serve"'), io)
  addRepositories(program.command('repo').description('the repositories of "forgelet serve"'), io)
  addTokens(program.command('token').description('the access tokens of a user of "forgelet serve"'), io)
  addKeys(program.command('keys').description('the signing key of an instance'), io)
  addDoctor(program, io)
  addCopy(program, io)
  newCommand(program, 'openapi', 'write the OpenAPI 3.1 document of the API, as JSON', OPENAPI_HELP)
    .option('--public-url <url>', 'URL of the API for clients, for the list of servers', parsePublicUrl)
    .action(({ publicUrl, json }) => io.out(JSON.stringify(apiDocument(publicUrl), undefined, json ? 0 : 2)))
  complete(program)
  return program
}

const OPENAPI_HELP = `
  forgelet openapi --public-url https://git.example.com > openapi.json

"forgelet serve" serves the same document at /api/v1/openapi.json. No server or database is needed.`

/**
 * Completes a command and those below it: adds the exit codes to its help, and ends wrong usage with a CommandError that
 * names the help.
 */
function complete(command: CommandUnknownOpts, path = command.name()): void {
  const subcommands = command.commands.map((sub) => sub.name()).join(', ')
  if (subcommands === '') command.addHelpText('after', `\nExit codes\n  ${EXIT_CODES.join('\n  ')}`)
  command.exitOverride((error) => {
    if (error.exitCode === 0) throw error // it has shown what was asked for
    const isIncomplete = error.code === 'commander.help'
    const wrong = isIncomplete ? `name a command: ${subcommands}` : error.message.replace(/^error: |\.$/g, '')
    throw new CommandError(2, `${wrong}; see "${path} --help"`)
  })
  for (const sub of command.commands) complete(sub, `${path} ${sub.name()}`)
}
