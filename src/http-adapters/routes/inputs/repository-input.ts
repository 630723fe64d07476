import type { Actor } from '../../../core/ports.ts'
import type { AccessRequest } from '../../../schema/access.ts'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import { toId } from '../../../schema/ids.ts'
import type { Steps } from '../../../schema/steps.ts'
import { run, wait } from '../../../schema/steps.ts'
import type { Exchange } from '../exchange.ts'
import { isNothing } from '../nothing.ts'
import type { Input, Parameter } from '../route.ts'
import { isName, nameSchema } from './name.ts'

/** What can be asked about a repository. */
export type RepositoryAction = Extract<AccessRequest, { readonly repositoryId: Id }>['action']

/** The two names in a repository's path. */
export const repositoryParameters: readonly Parameter[] = [
  { name: 'owner', in: 'path', schema: nameSchema, description: 'owner of the repository' },
  { name: 'repo', in: 'path', schema: nameSchema, description: 'name of the repository' },
]

/** The repository in the path, once the policy has let the caller do this there. */
export function repositoryFor(action: RepositoryAction): Input<Id> {
  return {
    parameters: repositoryParameters,
    action,
    errors: ['REPOSITORY_NOT_FOUND', 'FORBIDDEN'],
    read: (exchange) => run(enterRepository(exchange, action)),
  }
}

/**
 * Finds the repository in the path and asks the policy.
 *
 * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`. Source: docs/behaviour.md, Everywhere
 */
export function* enterRepository<A extends Actor>(exchange: Exchange<A>, action: RepositoryAction): Steps<Id> {
  const { context, operations, settings } = exchange
  const owner = exchange.parameter('owner')
  const name = exchange.parameter('repo')
  if (!isName(owner) || !isName(name)) throw notFound('repository')

  const repository = yield* wait(settings.directory.findRepository(owner, name, context))
  if (isNothing(repository)) throw notFound('repository')

  const repositoryId = toId(repository.id, 'repository.id')
  yield* wait(operations.authorize(exchange.actor, { action, repositoryId }, context))
  return repositoryId
}
