import type { Id } from '../../index.ts'
import { isForgeError } from '../../index.ts'
import type { Standalone } from '../../standalone/standalone.ts'
import { openStandalone } from '../../standalone/standalone.ts'
import type { CommandIO } from '../command.ts'
import { CommandError } from '../command.ts'
import type { Database, DatabaseOptions } from '../database.ts'
import { existingDatabase, onDatabase } from '../database.ts'

/** The name of a repository. */
export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

/**
 * Parses the value of `--repo`.
 * @throws CommandError (wrong usage)
 */
export function repositoryName(text: string): RepositoryName {
  const [owner, name, ...others] = text.split('/')
  if (owner && name && others.length === 0) return { owner, name }
  throw new CommandError(2, `--repo ${text}: give the owner and the name, such as acme/rocket`)
}

/** The options that name a repository in the database of a standalone host. */
export interface RepositoryOptions extends DatabaseOptions {
  readonly repo: RepositoryName
}

/** An open repository. */
export interface OpenRepository {
  readonly host: Standalone
  readonly repositoryId: Id
  readonly database: Database
}

/** Runs work on a repository, and closes the database. @throws CommandError with the documented exit code */
export async function withRepository<T>(
  options: RepositoryOptions,
  { environment }: CommandIO,
  work: (repository: OpenRepository) => Promise<T>,
): Promise<T> {
  const database = existingDatabase(options, environment)
  try {
    return await onDatabase(database, async () => {
      const host = await openStandalone({ ...database, logger: false })
      try {
        const found = await host.findRepository(options.repo.owner, options.repo.name)
        if (found === undefined) throw notFound(options.repo, database)
        return await work({ host, repositoryId: found.id, database })
      } finally {
        await host.close().catch(() => undefined) // what it could not close ends with the process
      }
    })
  } catch (error) {
    throw isForgeError(error, 'REPOSITORY_NOT_FOUND') ? notFound(options.repo, database) : error
  }
}

function notFound({ owner, name }: RepositoryName, database: Database): CommandError {
  return new CommandError(1, `database ${database.shown} has no repository ${owner}/${name}: correct --repo or --db`)
}
