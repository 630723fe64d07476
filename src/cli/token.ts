import { isForgeError } from '../index.ts'
import type { AccessToken, CreatedAccessToken } from '../standalone/standalone.ts'
import { createAccessToken, createUser, listAccessTokens, revokeAccessToken } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, printable, printResult } from './command.ts'
import type { DatabaseAddress, DatabaseOptions } from './database.ts'
import { databaseRefusal, unusable } from './database.ts'
import type { ExistingDatabase } from './storage-kinds.ts'
import { existingDatabase } from './storage-kinds.ts'

/** The options of `forgelet token` and `forgelet user`. */
export interface TokenOptions extends DatabaseOptions {
  /** What a new token is for. */
  readonly name?: string | undefined
  /** Whether a new user is a site administrator. */
  readonly admin?: true | undefined
}

/** Creates an access token of a user of `forgelet serve`, and prints it. @throws CommandError with the exit code */
export function createToken(user: string, options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    const created = await createAccessToken(location, user, options.name)
    printOnce(created, {}, user, options, io)
  })
}

/** Creates a user of `forgelet serve`, and prints an access token. @throws CommandError with the exit code */
export function createUserWithToken(user: string, options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    const created = await createUser(location, user, { siteAdmin: options.admin })
    if (created === undefined) {
      const fix = '"forgelet token create" makes a token for a user who exists'
      throw new CommandError(1, `the name ${user} is taken, in any case; ${fix}`)
    }
    printOnce(created, { user }, `the new user ${user}`, options, io)
  })
}

function printOnce(
  created: CreatedAccessToken,
  others: object,
  owner: string,
  options: TokenOptions,
  io: CommandIO,
): void {
  const { id, token } = created
  printResult(io, options, { ...others, ...asJson(created), token }, [token])
  if (!options.json) io.err(`forgelet: this is the token ${id} of ${owner}; it cannot be shown again`)
}

/** Lists the access tokens of a user of `forgelet serve`. @throws CommandError with the exit code */
export function listTokens(user: string, options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    const tokens = await listAccessTokens(location, user)
    printResult(io, options, { tokens: tokens.map(asJson) }, tokens.map(asLine))
    if (!options.json && tokens.length === 0) io.err(`forgelet: ${user} has no tokens`)
  })
}

/** Revokes an access token of a user of `forgelet serve`. @throws CommandError with the exit code */
export function revokeToken(user: string, id: string, options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    if (!(await revokeAccessToken(location, user, id))) {
      throw new CommandError(1, `${user} has no token ${id}: "forgelet token list ${user}" shows the ids`)
    }
    printResult(io, options, { revoked: id }, [])
    if (!options.json) io.err(`forgelet: the token ${id} of ${user} is revoked`)
  })
}

async function withTokens(
  user: string,
  options: TokenOptions,
  { environment }: CommandIO,
  work: (location: ExistingDatabase['location']) => Promise<void>,
): Promise<ExitCode> {
  const refuseMemory = 'has no users: name the database of "forgelet serve"'
  const { database, location } = await existingDatabase(options, environment, refuseMemory)
  try {
    await work(location)
    return 0
  } catch (error) {
    throw refusal(database, user, error)
  }
}

function asJson({ id, name, createdAt }: AccessToken): object {
  return { id, name: name ?? null, createdAt: createdAt ?? null }
}

function asLine({ id, name, createdAt }: AccessToken): string {
  const time = createdAt === undefined ? 'from a fixture' : createdAt.toISOString().replace(/\.\d+Z$/, 'Z')
  return `${id}  ${time.padEnd(20)}  ${printable(name ?? '')}`.trimEnd()
}

function refusal(database: DatabaseAddress, user: string, error: unknown): unknown {
  if (isForgeError(error, 'USER_NOT_FOUND')) {
    return new CommandError(1, `database ${database.shown} has no user ${user}: "forgelet user create" makes one`)
  }
  if (isForgeError(error, 'INVALID_INPUT')) {
    const [wrong] = error.details.violations
    return new CommandError(2, `${user} cannot be the name of a user: ${wrong?.message ?? error.message}`)
  }
  if (isForgeError(error, 'SCHEMA_OUTDATED')) {
    return unusable(database, 'its tables are missing or older: start "forgelet serve" of this release on it first')
  }
  return databaseRefusal(database, error)
}
