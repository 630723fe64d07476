import type { Command } from '@commander-js/extra-typings'
import { isForgeError } from 'forgelet'
import type { AccessToken, CreatedAccessToken } from '../standalone/standalone.ts'
import {
  createAccessToken,
  createOrganization,
  createRepository,
  createUser,
  listAccessTokens,
  revokeAccessToken,
} from '../standalone/standalone.ts'
import type { CommandIO, ResultOptions } from './command.ts'
import { CommandError, newCommand, printable, printResult } from './command.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { existingDatabase, inDatabase, onDatabase } from './database.ts'
import { repositoryName } from './issues/open-repository.ts'

const TOKENS = 'The servers may run meanwhile: they accept a new token at once, and answer a revoked one with 401.'
const ADDITIONS = 'The servers may run meanwhile: they know it at once.'

const CREATE_USER = `
  forgelet user create alice --admin --db forgelet.sqlite

"forgelet serve" makes the tables. "forgelet token" makes more tokens, and revokes them.
${TOKENS}`

/** Adds what works on the users of `forgelet serve`. */
export function addUsers(users: Command, io: CommandIO): void {
  inDatabase(newCommand(users, 'create', 'create a user, and print an access token once', CREATE_USER))
    .argument('<name>')
    .option('--admin', 'make the user a site administrator')
    .action((user, options) =>
      onAccounts(user, options, io, async (database) => {
        const created = await createUser(database, user, { siteAdmin: options.admin })
        if (created !== undefined) return printOnce(created, user, options, io)
        const fix = '"forgelet token create" makes a token for a user who exists'
        throw new CommandError(1, `the name ${user} is taken, in any case; ${fix}`)
      }),
    )
}

const CREATE_ORGANIZATION = `
  forgelet org create acme --owner alice --db forgelet.sqlite

${ADDITIONS}`

/** Adds what works on the organizations of `forgelet serve`. */
export function addOrganizations(organizations: Command, io: CommandIO): void {
  inDatabase(newCommand(organizations, 'create', 'create an organization', CREATE_ORGANIZATION))
    .argument('<name>')
    .requiredOption('--owner <user>', 'user who owns it')
    .action((name, options) => {
      const { owner } = options
      return onAccounts(name, options, io, async (database) => {
        const isNew = await createOrganization(database, name, { owner })
        if (!isNew) throw new CommandError(1, `the name ${name} is taken, in any case`)
        printResult(io, options, { organization: name, owner }, [name])
      })
    })
}

const CREATE_REPOSITORY = `
  forgelet repo create acme/rocket --db forgelet.sqlite
  forgelet issues import issues.json --repo acme/rocket --db forgelet.sqlite

${ADDITIONS}`

/** Adds what works on the repositories of `forgelet serve`. */
export function addRepositories(repositories: Command, io: CommandIO): void {
  inDatabase(newCommand(repositories, 'create', 'create a repository without issues', CREATE_REPOSITORY))
    .argument('<owner/name>', '', repositoryName)
    .option('--private', 'show it only to its owner and to collaborators')
    .action(({ owner, name }, options) => {
      const text = `${owner}/${name}`
      return onAccounts(text, options, io, async (database) => {
        const isNew = await createRepository(database, { private: options.private, owner, name })
        if (!isNew) throw new CommandError(1, `the repository ${text} exists, in any case of the names`)
        printResult(io, options, { repository: text }, [text])
      })
    })
}

const CREATE = `
  forgelet token create alice --name ci --db forgelet.sqlite

${TOKENS}`

const LIST = `
  forgelet token list alice --db postgres://forge@db.example.com/forge --json`

const REVOKE = `
  forgelet token revoke alice 9f86d081884c

${TOKENS}`

/** Adds what works on the access tokens of a user of `forgelet serve`. */
export function addTokens(tokens: Command, io: CommandIO): void {
  inDatabase(newCommand(tokens, 'create', 'create a token, and print it once', CREATE))
    .argument('<user>')
    .option('--name <name>', 'what the token is for')
    .action((user, options) =>
      onAccounts(user, options, io, async (database) => {
        printOnce(await createAccessToken(database, user, options.name), user, options, io)
      }),
    )
  inDatabase(newCommand(tokens, 'list', 'show ids, times and names, not the tokens', LIST))
    .argument('<user>')
    .action((user, options) =>
      onAccounts(user, options, io, async (database) => {
        const found = await listAccessTokens(database, user)
        printResult(io, options, { tokens: found }, found.map(asLine))
      }),
    )
  inDatabase(newCommand(tokens, 'revoke', 'make a token invalid', REVOKE))
    .argument('<user>')
    .argument('<id>')
    .action((user, id, options) =>
      onAccounts(user, options, io, async (database) => {
        if (await revokeAccessToken(database, user, id)) return printResult(io, options, { revoked: id }, [])
        throw new CommandError(1, `${user} has no token ${id}: "forgelet token list ${user}" shows the ids`)
      }),
    )
}

function printOnce(created: CreatedAccessToken, user: string, options: ResultOptions, io: CommandIO): void {
  const { id, token } = created
  printResult(io, options, { user, ...created }, [token])
  if (!options.json) io.err(`forgelet: this is the token ${id} of ${user}; it cannot be shown again`)
}

function asLine({ id, name, createdAt }: AccessToken): string {
  const time = createdAt === undefined ? 'from a fixture' : createdAt.toISOString().replace(/\.\d+Z$/, 'Z')
  return `${id}  ${time.padEnd(20)}  ${printable(name ?? '')}`.trimEnd()
}

/** Runs work on a database that must have an account, and with a name that may not be valid. */
async function onAccounts(
  name: string,
  options: DatabaseOptions,
  io: CommandIO,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = existingDatabase(options, io)
  try {
    await onDatabase(database, () => work(database))
  } catch (error) {
    if (isForgeError(error, 'USER_NOT_FOUND'))
      throw new CommandError(1, `database ${database.shown}: ${error.message}: create it first`)
    if (!isForgeError(error, 'INVALID_INPUT')) throw error
    const [wrong] = error.details.violations
    throw new CommandError(2, `${name} cannot be used: ${wrong?.message ?? error.message}`)
  }
}
