import type { Command } from '@commander-js/extra-typings'
import { isForgeError } from 'forgelet'
import { createOrganization, createRepository } from '../standalone/standalone.ts'
import type { CommandIO } from './command.ts'
import { CommandError, newCommand, printResult } from './command.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { existingDatabase, inDatabase, onDatabase } from './database.ts'
import { ownerAndName } from './issues/open-repository.ts'

const RUNNING = 'The servers may run meanwhile: they know it at once.'

const CREATE_ORGANIZATION = `
  forgelet org create acme --owner alice --db forgelet.sqlite

${RUNNING}`

/** Adds what works on the organizations of `forgelet serve`. */
export function addOrganizations(organizations: Command, io: CommandIO): void {
  inDatabase(newCommand(organizations, 'create', 'create an organization', CREATE_ORGANIZATION))
    .argument('<name>')
    .requiredOption('--owner <user>', 'user who owns it')
    .action(async (name, options) => {
      const { owner } = options
      const isNew = await onNames(`the name ${name}`, owner, options, io, (database) =>
        createOrganization(database, name, { owner }),
      )
      if (!isNew) throw new CommandError(1, `the name ${name} is taken, in any case`)
      printResult(io, options, { organization: name, owner }, [name])
    })
}

const CREATE_REPOSITORY = `
  forgelet repo create acme/rocket --db forgelet.sqlite
  forgelet issues import issues.json --repo acme/rocket --db forgelet.sqlite

${RUNNING}`

/** Adds what works on the repositories of `forgelet serve`. */
export function addRepositories(repositories: Command, io: CommandIO): void {
  inDatabase(newCommand(repositories, 'create', 'create a repository without issues', CREATE_REPOSITORY))
    .argument('<owner/name>')
    .option('--private', 'show it only to its owner and to collaborators')
    .action(async (text, options) => {
      const names = ownerAndName(text)
      if (names === undefined) throw new CommandError(2, `${text}: give the owner and the name, such as acme/rocket`)
      const isNew = await onNames(text, names.owner, options, io, (database) =>
        createRepository(database, { private: options.private, ...names }),
      )
      if (!isNew) throw new CommandError(1, `the repository ${text} exists, in any case of the names`)
      printResult(io, options, { repository: text }, [text])
    })
}

/** Runs work on a database that must have an owner, with names that may not be valid. */
async function onNames<T>(
  what: string,
  owner: string,
  options: DatabaseOptions,
  io: CommandIO,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = existingDatabase(options, io)
  try {
    return await onDatabase(database, () => work(database))
  } catch (error) {
    if (isForgeError(error, 'USER_NOT_FOUND')) {
      throw new CommandError(1, `database ${database.shown}: ${error.message}, ${owner}: create it first`)
    }
    if (!isForgeError(error, 'INVALID_INPUT')) throw error
    const [wrong] = error.details.violations
    throw new CommandError(2, `${what} cannot be used: ${wrong?.message ?? error.message}`)
  }
}
