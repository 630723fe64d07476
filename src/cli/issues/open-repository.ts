import { existsSync } from 'node:fs'
import type { Id } from '../../index.ts'
import { isForgeError } from '../../index.ts'
import type { Standalone } from '../../standalone/standalone.ts'
import { openStandalone } from '../../standalone/standalone.ts'
import type { Environment } from '../command.ts'
import { CommandError } from '../command.ts'
import type { DatabaseAddress } from '../database.ts'
import { databaseAddress, databaseRefusal } from '../database.ts'
import type { OptionValues } from '../options.ts'
import type { RepositoryName } from './repository-name.ts'
import { repositoryName } from './repository-name.ts'

/** A repository in the database of a standalone host. */
export interface RepositoryAddress {
  readonly repository: RepositoryName
  readonly database: DatabaseAddress
  readonly prefix: string | undefined
  readonly schema: string | undefined
}

/** Runs work on a repository, and closes the database. @throws CommandError with the documented exit code */
export async function withRepository<T>(
  address: RepositoryAddress,
  work: (host: Standalone, repositoryId: Id) => Promise<T>,
): Promise<T> {
  const { database, prefix, schema, repository } = address
  if (database.kind === 'sqlite' && !existsSync(database.location)) {
    throw new CommandError(3, `database ${database.shown} cannot be used: the file does not exist; correct the path`)
  }
  try {
    const host = await openStandalone({ db: database.location, prefix, schema, logger: false })
    try {
      const found = await host.findRepository(repository.owner, repository.name)
      if (found === undefined) throw notFound(address)
      return await work(host, found.id)
    } finally {
      await host.close().catch(() => undefined) // what it could not close ends with the process
    }
  } catch (error) {
    if (isForgeError(error, 'REPOSITORY_NOT_FOUND')) throw notFound(address)
    throw databaseRefusal(database, error)
  }
}

function notFound({ repository: { owner, name }, database }: RepositoryAddress): CommandError {
  return new CommandError(1, `database ${database.shown} has no repository ${owner}/${name}: correct --repo or --db`)
}

/**
 * Checks the options that name a repository.
 * @throws CommandError (wrong usage)
 */
export function repositoryAddress(values: OptionValues, environment: Environment): RepositoryAddress {
  if (values.repo === undefined) throw new CommandError(2, 'name the repository with --repo, such as acme/rocket')
  const database = databaseAddress(values, environment, {
    refuseMemory: 'has no repositories: give a file, or a URL',
  })
  return { repository: repositoryName(values.repo), database, prefix: values.prefix, schema: values.schema }
}
