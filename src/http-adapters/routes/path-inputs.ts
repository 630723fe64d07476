import type { Actor } from '../../core/ports.ts'
import type { AccessRequest, Action } from '../../schema/access.ts'
import { notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { AccountRef } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../schema/sync-or-async.ts'
import type { JsonSchema } from './json-schema.ts'
import { isNil } from './ports.ts'
import type { RequestContext } from './request-context.ts'
import type { Input, Parameter } from './route.ts'

const CONTROL_CHARACTER = /\p{Cc}/u

/** The schema of a name in a path. */
const nameSchema: JsonSchema = { type: 'string', minLength: 1 }

/** Whether a text in a path can be a name at all. A text with control characters is not looked up. */
function isName(text: string): boolean {
  return !CONTROL_CHARACTER.test(text)
}

/** An account, with its id in canonical form. */
export interface FoundAccount extends AccountRef {
  readonly id: Id
}

/** The user or organization in the path. */
export const accountInPath: Input<AccountRef> = {
  parameters: [{ name: 'username', in: 'path', schema: nameSchema, description: 'name of the user' }],
  errors: ['USER_NOT_FOUND'],
  read: (exchange) => runMaybeAsync(readAccount(exchange)),
}

/**
 * Finds the account that a path parameter names.
 *
 * @throws TypeError when the directory returns anything but an account, undefined or null
 */
function* findAccount<A extends Actor>(
  exchange: RequestContext<A>,
  parameter: string,
): SyncOrAsync<FoundAccount | undefined> {
  const name = exchange.parameter(parameter)
  if (!isName(name)) return undefined

  const account = yield* wait(exchange.settings.directory.findAccount(name, exchange.context))
  return isNil(account) ? undefined : toAccount(account)
}

/** Refuses an account of an unknown kind, so that it is not taken for a user or an organization. */
function toAccount({ kind, id }: AccountRef): FoundAccount {
  if (kind === 'user' || kind === 'organization') return { kind, id: toId(id, 'account.id') }
  throw new TypeError("findAccount must return { kind: 'user' or 'organization', id }, undefined or null")
}

function* readAccount<A extends Actor>(exchange: RequestContext<A>): SyncOrAsync<AccountRef> {
  const account = yield* findAccount(exchange, 'username')
  if (account === undefined) throw notFound('user')
  return account
}

/** The actions on an organization. */
export type OrganizationAction = Extract<AccessRequest, { readonly organizationId: Id }>['action']

/** The organization in the path. The input fails unless the policy allows the caller this action there. */
export function organizationFor(action: OrganizationAction): Input<Id> {
  return {
    parameters: [{ name: 'org', in: 'path', schema: nameSchema, description: 'name of the organization' }],
    action,
    errors: ['ORGANIZATION_NOT_FOUND', 'FORBIDDEN'],
    read: (exchange) => runMaybeAsync(enterOrganization(exchange, action)),
  }
}

function* enterOrganization<A extends Actor>(exchange: RequestContext<A>, action: OrganizationAction): SyncOrAsync<Id> {
  const account = yield* findAccount(exchange, 'org')
  if (account?.kind !== 'organization') throw notFound('organization')

  const organizationId = account.id
  yield* wait(exchange.operations.authorize(exchange.actor, { action, organizationId }, exchange.context))
  return organizationId
}

/** The actions on any user, which the policy decides before a name is looked up. */
export type UserAction = Extract<Action, 'badges.read' | 'badges.grant'>

/**
 * The user in the path. The input looks the name up only after the policy has allowed the caller this action on any
 * user. It does not find organizations.
 */
export function userFor(action: UserAction): Input<Id> {
  return {
    parameters: [{ name: 'username', in: 'path', schema: nameSchema, description: 'name of the user' }],
    action,
    errors: ['FORBIDDEN', 'USER_NOT_FOUND'],
    read: (exchange) => runMaybeAsync(findUser(exchange, action)),
  }
}

function* findUser<A extends Actor>(exchange: RequestContext<A>, action: UserAction): SyncOrAsync<Id> {
  yield* wait(exchange.operations.authorize(exchange.actor, { action, userId: undefined }, exchange.context))

  const account = yield* findAccount(exchange, 'username')
  if (account?.kind !== 'user') throw notFound('user')
  return account.id
}

/** The actions on a repository. */
export type RepositoryAction = Extract<AccessRequest, { readonly repositoryId: Id }>['action']

/** The two names in the path of a repository. */
export const repositoryParameters: readonly Parameter[] = [
  { name: 'owner', in: 'path', schema: nameSchema, description: 'owner of the repository' },
  { name: 'repo', in: 'path', schema: nameSchema, description: 'name of the repository' },
]

/** The repository in the path. The input fails unless the policy allows the caller this action there. */
export function repositoryFor(action: RepositoryAction): Input<Id> {
  return {
    parameters: repositoryParameters,
    action,
    errors: ['REPOSITORY_NOT_FOUND', 'FORBIDDEN'],
    read: (exchange) => runMaybeAsync(enterRepository(exchange, action)),
  }
}

/**
 * Finds the repository in the path and asks the policy.
 *
 * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`. Source: docs/behaviour.md, Everywhere
 */
export function* enterRepository<A extends Actor>(
  exchange: RequestContext<A>,
  action: RepositoryAction,
): SyncOrAsync<Id> {
  const { context, operations, settings } = exchange
  const owner = exchange.parameter('owner')
  const name = exchange.parameter('repo')
  if (!isName(owner) || !isName(name)) throw notFound('repository')

  const repository = yield* wait(settings.directory.findRepository(owner, name, context))
  if (isNil(repository)) throw notFound('repository')

  const repositoryId = toId(repository.id, 'repository.id')
  yield* wait(operations.authorize(exchange.actor, { action, repositoryId }, context))
  return repositoryId
}
