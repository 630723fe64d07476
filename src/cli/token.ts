import { isForgeError } from '../index.ts'
import type { AccessToken } from '../standalone/standalone.ts'
import { createAccessToken, listAccessTokens, revokeAccessToken } from '../standalone/standalone.ts'
import type { CommandIO, Environment, ExitCode } from './command.ts'
import { CommandError, printable } from './command.ts'
import type { DatabaseAddress } from './database.ts'
import { databaseAddress, databaseRefusal } from './database.ts'
import type { OptionValues } from './options.ts'
import { refuseWrongPlace } from './storage-kinds.ts'

/**
 * Creates, lists or revokes the access tokens of a user of `forgelet serve`.
 * @throws CommandError with the documented exit code
 */
export async function token(options: TokenOptions, io: CommandIO): Promise<ExitCode> {
  await refuseWrongPlace(options.database, options.location)
  try {
    await ACTIONS[options.action](options, io)
    return 0
  } catch (error) {
    throw refusal(options, error)
  }
}

type TokenAction = 'create' | 'list' | 'revoke'

const ACTIONS: { readonly [A in TokenAction]: (options: TokenOptions, io: CommandIO) => Promise<void> } = {
  async create({ location, user, name, json }, io) {
    const created = await createAccessToken(location, user, name)
    if (json) {
      io.out(JSON.stringify({ ...asJson(created), token: created.token }))
      return
    }
    io.out(created.token)
    io.err(`forgelet: this is the token ${created.id} of ${user}; it cannot be shown again`)
  },

  async list({ location, user, json }, io) {
    const tokens = await listAccessTokens(location, user)
    if (json) io.out(JSON.stringify({ tokens: tokens.map(asJson) }))
    else for (const line of tokens.map(asLine)) io.out(line)
    if (!json && tokens.length === 0) io.err(`forgelet: ${user} has no tokens`)
  },

  async revoke({ location, user, id, json }, io) {
    if (!(await revokeAccessToken(location, user, id))) {
      throw new CommandError(1, `${user} has no token ${id}: "forgelet token list ${user}" shows the ids`)
    }
    if (json) io.out(JSON.stringify({ revoked: id }))
    else io.err(`forgelet: the token ${id} of ${user} is revoked`)
  },
}

function asJson({ id, name, createdAt }: AccessToken): object {
  return { id, name: name ?? null, createdAt: createdAt ?? null }
}

function asLine({ id, name, createdAt }: AccessToken): string {
  const time = createdAt === undefined ? 'from a fixture' : createdAt.toISOString().replace(/\.\d+Z$/, 'Z')
  return `${id}  ${time.padEnd(20)}  ${printable(name ?? '')}`.trimEnd()
}

function refusal({ database, user }: TokenOptions, error: unknown): unknown {
  if (isForgeError(error, 'USER_NOT_FOUND')) {
    return new CommandError(
      1,
      `database ${database.shown} has no user ${user}: the fixture of a database names its users`,
    )
  }
  if (isForgeError(error, 'SCHEMA_OUTDATED')) {
    const fix = 'start "forgelet serve" of this release on it first'
    return new CommandError(3, `database ${database.shown} cannot be used: its tables are missing or older: ${fix}`)
  }
  return databaseRefusal(database, error)
}

/** The checked words and options of `forgelet token`. */
export interface TokenOptions {
  readonly action: TokenAction
  readonly database: DatabaseAddress
  readonly location: Parameters<typeof listAccessTokens>[0]
  readonly user: string
  /** The id of the token to revoke; `""` for the other actions. */
  readonly id: string
  /** What a new token is for. */
  readonly name: string | undefined
  readonly json: boolean
}

const WORDS: { readonly [A in TokenAction]: readonly string[] } = {
  create: ['USER'],
  list: ['USER'],
  revoke: ['USER', 'ID'],
}

const MAX_NAME_LENGTH = 255

/**
 * Checks the words and options of `forgelet token`.
 * @throws CommandError (wrong usage)
 */
export function tokenOptions(
  action: TokenAction,
  words: readonly string[],
  values: OptionValues,
  environment: Environment,
): TokenOptions {
  const needed = WORDS[action]
  if (words.length !== needed.length) {
    throw new CommandError(
      2,
      `write "forgelet token ${action} ${needed.join(' ')}"; see "forgelet token ${action} --help"`,
    )
  }
  const database = databaseAddress(values, environment, {
    refuseMemory: 'has no users: name the database of "forgelet serve"',
  })
  if (values.name !== undefined && values.name.length > MAX_NAME_LENGTH) {
    throw new CommandError(2, `--name: give at most ${MAX_NAME_LENGTH} characters`)
  }
  const [user = '', id = ''] = words
  return {
    action,
    database,
    location: { db: database.location, prefix: values.prefix, schema: values.schema },
    user,
    id,
    name: values.name,
    json: values.json === true,
  }
}
