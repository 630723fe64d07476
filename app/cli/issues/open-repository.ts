import type { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from '@commander-js/extra-typings'
import type { Forge, Id } from 'forgelet'
import { HostDirectory } from '../../standalone/host-store/host-directory.ts'
import { onReadyDatabase } from '../../standalone/host-store/open-host-database.ts'
import type { StandaloneUser } from '../../standalone/host-store/roles.ts'
import { hostForge } from '../../standalone/open-standalone.ts'
import type { CommandIO, ResultOptions } from '../command.ts'
import { CommandError } from '../command.ts'
import type { Database, DatabaseOptions } from '../database.ts'
import { existingDatabase, inDatabase, onDatabase } from '../database.ts'

/** The name of a repository. */
export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

/** Parses `owner/name`. */
export function repositoryName(text: string): RepositoryName {
  const [owner, name, ...others] = text.split('/')
  if (owner && name && others.length === 0) return { owner, name }
  throw new InvalidArgumentError('Give the owner and the name, such as acme/rocket')
}

/** The options that name a repository in the database of a standalone host. */
export type RepositoryOptions = DatabaseOptions & { readonly repo: RepositoryName }

/** Adds these options. */
export function inRepository(command: Command<[], ResultOptions>): Command<[], ResultOptions & RepositoryOptions> {
  return inDatabase(command).requiredOption('--repo <owner/name>', 'repository in the database', repositoryName)
}

/** An open repository. */
export interface OpenRepository {
  readonly forge: Forge<StandaloneUser>
  readonly repositoryId: Id
  readonly database: Database
}

/**
 * Runs work on a repository, and closes the database. The tables are those that "forgelet serve" made: none is created or changed.
 * @throws CommandError with the documented exit code
 */
export async function withRepository<T>(
  options: RepositoryOptions,
  io: CommandIO,
  work: (repository: OpenRepository) => Promise<T>,
): Promise<T> {
  const database = existingDatabase(options, io)
  return onDatabase(database, () =>
    onReadyDatabase(database, async (opened) => {
      const { owner, name } = options.repo
      const found = await new HostDirectory(opened).findRepository(owner, name)
      const forge = hostForge(opened, { logger: false })
      if (found !== undefined) return work({ forge, repositoryId: found.id, database })
      throw new CommandError(1, `database ${database.shown} has no repository ${owner}/${name}: correct --repo or --db`)
    }),
  )
}
