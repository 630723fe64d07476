import { parseArguments } from './arguments.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, packageVersion } from './command.ts'
import { doctor, doctorOptions } from './doctor.ts'
import { commandHelp, mainHelp } from './help.ts'
import { convert, convertOptions } from './issues/convert.ts'
import { exportIssues, exportOptions } from './issues/export.ts'
import { importIssues, importOptions } from './issues/import.ts'
import { validate, validateOptions } from './issues/validate.ts'
import { openApiOptions, openapi } from './openapi.ts'
import { schema, schemaOptions } from './schema.ts'
import { serve, serveOptions } from './serve.ts'
import { token, tokenOptions } from './token.ts'

/** Runs one command line and returns the exit code. */
export async function runCli(args: readonly string[], io: CommandIO): Promise<ExitCode> {
  try {
    return await runCommand(args, io)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error

    const lines = args.includes('--json') ? [asJson(error)] : error.lines()
    for (const line of lines) io.err(line)
    return error.exitCode
  }
}

async function runCommand(args: readonly string[], io: CommandIO): Promise<ExitCode> {
  const { command, words, values } = parseArguments(args)
  if (values.version === true) return answer(io, packageVersion())
  if (values.help === true) return answer(io, command === undefined ? mainHelp() : commandHelp(command))
  if (command === undefined) throw new CommandError(2, 'no command given: try "forgelet serve", or "forgelet --help"')

  switch (command) {
    case 'serve':
      return serve(serveOptions(words, values, io.environment), io)
    case 'schema':
      return schema(schemaOptions(words, values, io.environment), io)
    case 'issues':
      throw new CommandError(
        2,
        'name an action: "validate", "convert", "import" or "export"; see "forgelet issues --help"',
      )
    case 'issues validate':
      return validate(validateOptions(words, values), io)
    case 'issues convert':
      return convert(convertOptions(words, values), io)
    case 'issues import':
      return importIssues(importOptions(words, values, io.environment), io)
    case 'issues export':
      return exportIssues(exportOptions(words, values, io.environment), io)
    case 'token':
      throw new CommandError(2, 'name an action: "create", "list" or "revoke"; see "forgelet token --help"')
    case 'token create':
      return token(tokenOptions('create', words, values, io.environment), io)
    case 'token list':
      return token(tokenOptions('list', words, values, io.environment), io)
    case 'token revoke':
      return token(tokenOptions('revoke', words, values, io.environment), io)
    case 'doctor':
      return doctor(doctorOptions(words, values, io.environment), io)
    case 'openapi':
      return openapi(openApiOptions(words, values), io)
  }
}

function answer(io: CommandIO, text: string): ExitCode {
  io.out(text)
  return 0
}

function asJson({ message, exitCode, violations }: CommandError): string {
  return JSON.stringify({ error: { message, exitCode, violations } })
}
