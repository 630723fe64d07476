import { commandHelp, mainHelp, parseArguments } from './arguments.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, packageVersion } from './command.ts'
import { openApiOptions, openapi } from './openapi.ts'
import { schema, schemaOptions } from './schema.ts'
import { serve, serveOptions } from './serve.ts'

/** Runs one command line and returns the exit code. */
export async function runCli(args: readonly string[], terminal: CommandIO): Promise<ExitCode> {
  try {
    return await runCommand(args, terminal)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error

    const lines = args.includes('--json') ? [asJson(error)] : error.lines()
    for (const line of lines) terminal.err(line)
    return error.exitCode
  }
}

async function runCommand(args: readonly string[], terminal: CommandIO): Promise<ExitCode> {
  const { command, words, values } = parseArguments(args)
  if (values.version === true) return answer(terminal, packageVersion())
  if (values.help === true) return answer(terminal, command === undefined ? mainHelp() : commandHelp(command))
  if (command === undefined)
    throw new CommandError(2, 'a command is missing: try "forgelet serve", or "forgelet --help"')

  switch (command) {
    case 'serve':
      return serve(serveOptions(words, values, terminal.environment), terminal)
    case 'schema':
      return schema(schemaOptions(words, values, terminal.environment), terminal)
    case 'openapi':
      return openapi(openApiOptions(words, values), terminal)
  }
}

function answer(terminal: CommandIO, text: string): ExitCode {
  terminal.out(text)
  return 0
}

function asJson({ message, exitCode, violations }: CommandError): string {
  return JSON.stringify({ error: { message, exitCode, violations } })
}
