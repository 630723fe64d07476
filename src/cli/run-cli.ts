import type { CommandIO, ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import { mayHoldPassword } from './database.ts'
import { createProgram, ShownHelp, URL_OPTIONS } from './program.ts'

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
    if (error instanceof ShownHelp) return 0
    if (!(error instanceof CommandError)) throw error

    const lines = args.includes('--json') ? [asJson(error)] : error.lines()
    for (const line of lines) io.err(line)
    return error.exitCode
  }
}

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
