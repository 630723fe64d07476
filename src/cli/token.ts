import { isForgeError } from '../index.ts'
import type { AccessToken } from '../standalone/standalone.ts'
import { createAccessToken, createUser, listAccessTokens, revokeAccessToken } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, printable } from './command.ts'
import type { DatabaseAddress, DatabaseOptions } from './database.ts'
import { databaseRefusal } from './database.ts'
import type { ExistingDatabase } from './storage-kinds.ts'
import { existingDatabase } from './storage-kinds.ts'

/** The options of `forgelet token`. */
export interface TokenOptions extends DatabaseOptions {
  readonly json?: true | undefined
  /** What a new token is for. */
  readonly name?: string | undefined
}

/** Creates an access token of a user of `forgelet serve`, and prints it. @throws CommandError with the exit code */
export function createToken(user: string, options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    const created = await createAccessToken(location, user, options.name)
    if (options.json) {
      io.out(JSON.stringify({ ...asJson(created), token: created.token }))
      return
    }
    io.out(created.token)
    io.err(`forgelet: this is the token ${created.id} of ${user}; it cannot be shown again`)
  })
}

/** The options of `forgelet user create`. */
export interface UserOptions extends DatabaseOptions {
  readonly json?: true | undefined
  readonly admin?: true | undefined
}

/** Creates a user of `forgelet serve`, and prints an access token. @throws CommandError with the exit code */
export function createUserWithToken(user: string, options: UserOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    const created = await createUser(location, user, { siteAdmin: options.admin })
    if (created === undefined)
      throw new CommandError(
        1,
        `the name ${user} is taken, in any case; "forgelet token create" makes a token for a user who exists`,
      )
    if (options.json) {
      io.out(JSON.stringify({ user, ...asJson(created), token: created.token }))
      return
    }
    io.out(created.token)
    io.err(`forgelet: this is the token ${created.id} of the new user ${user}; it cannot be shown again`)
  })
}

/** Lists the access tokens of a user of `forgelet serve`. @throws CommandError with the exit code */
export function listTokens(user: string, options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    const tokens = await listAccessTokens(location, user)
    if (options.json) io.out(JSON.stringify({ tokens: tokens.map(asJson) }))
    else for (const line of tokens.map(asLine)) io.out(line)
    if (!options.json && tokens.length === 0) io.err(`forgelet: ${user} has no tokens`)
  })
}

/** Revokes an access token of a user of `forgelet serve`. @throws CommandError with the exit code */
export function revokeToken(user: string, id: string, options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  return withTokens(user, options, io, async (location) => {
    if (!(await revokeAccessToken(location, user, id))) {
      throw new CommandError(1, `${user} has no token ${id}: "forgelet token list ${user}" shows the ids`)
    }
    if (options.json) io.out(JSON.stringify({ revoked: id }))
    else io.err(`forgelet: the token ${id} of ${user} is revoked`)
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
    const fix = 'start "forgelet serve" of this release on it first'
    return new CommandError(3, `database ${database.shown} cannot be used: its tables are missing or older: ${fix}`)
  }
  return databaseRefusal(database, error)
}
