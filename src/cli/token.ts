import { isForgeError } from '../index.ts'
import type { AccessToken, CreatedAccessToken } from '../standalone/standalone.ts'
import { createAccessToken, createUser, listAccessTokens, revokeAccessToken } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, printable, printResult } from './command.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { existingDatabase, onDatabase } from './database.ts'

/** Creates an access token of a user of `forgelet serve`, and prints it. @throws CommandError with the exit code */
export function createToken(
  user: string,
  options: DatabaseOptions & { readonly name?: string | undefined },
  io: CommandIO,
): Promise<ExitCode> {
  return onUser(user, options, io, async (database) => {
    printOnce(await createAccessToken(database, user, options.name), user, options, io)
  })
}

/** Creates a user of `forgelet serve`, and prints an access token. @throws CommandError with the exit code */
export function createUserWithToken(
  user: string,
  options: DatabaseOptions & { readonly admin?: true | undefined },
  io: CommandIO,
): Promise<ExitCode> {
  return onUser(user, options, io, async (database) => {
    const created = await createUser(database, user, { siteAdmin: options.admin })
    if (created !== undefined) return printOnce(created, user, options, io)
    const fix = '"forgelet token create" makes a token for a user who exists'
    throw new CommandError(1, `the name ${user} is taken, in any case; ${fix}`)
  })
}

function printOnce(created: CreatedAccessToken, user: string, options: DatabaseOptions, io: CommandIO): void {
  const { id, token } = created
  printResult(io, options, { user, ...created }, [token])
  if (!options.json) io.err(`forgelet: this is the token ${id} of ${user}; it cannot be shown again`)
}

/** Lists the access tokens of a user of `forgelet serve`. @throws CommandError with the exit code */
export function listTokens(user: string, options: DatabaseOptions, io: CommandIO): Promise<ExitCode> {
  return onUser(user, options, io, async (database) => {
    const tokens = await listAccessTokens(database, user)
    printResult(io, options, { tokens }, tokens.map(asLine))
  })
}

/** Revokes an access token of a user of `forgelet serve`. @throws CommandError with the exit code */
export function revokeToken(user: string, id: string, options: DatabaseOptions, io: CommandIO): Promise<ExitCode> {
  return onUser(user, options, io, async (database) => {
    if (await revokeAccessToken(database, user, id)) printResult(io, options, { revoked: id }, [])
    else throw new CommandError(1, `${user} has no token ${id}: "forgelet token list ${user}" shows the ids`)
  })
}

async function onUser(
  user: string,
  options: DatabaseOptions,
  { environment }: CommandIO,
  work: (database: Database) => Promise<void>,
): Promise<ExitCode> {
  const database = existingDatabase(options, environment)
  try {
    await onDatabase(database, () => work(database))
    return 0
  } catch (error) {
    if (isForgeError(error, 'USER_NOT_FOUND')) {
      throw new CommandError(1, `database ${database.shown} has no user ${user}: "forgelet user create" makes one`)
    }
    if (!isForgeError(error, 'INVALID_INPUT')) throw error
    const [wrong] = error.details.violations
    throw new CommandError(2, `${user} cannot be the name of a user: ${wrong?.message ?? error.message}`)
  }
}

function asLine({ id, name, createdAt }: AccessToken): string {
  const time = createdAt === undefined ? 'from a fixture' : createdAt.toISOString().replace(/\.\d+Z$/, 'Z')
  return `${id}  ${time.padEnd(20)}  ${printable(name ?? '')}`.trimEnd()
}
