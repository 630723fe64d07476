import type { Actor } from '../../core/ports.ts'
import type { AccessRequest } from '../../schema/access.ts'
import { notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { AccountRef, IssueRef } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import { parseInteger } from './integer-text.ts'
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
  read: (exchange) => after(findAccount(exchange, 'username'), existingAccount),
}

/**
 * Finds the account that a path parameter names.
 *
 * @throws TypeError when the directory returns anything but an account, undefined or null
 */
function findAccount<A extends Actor>(
  exchange: RequestContext<A>,
  parameter: string,
): MaybePromise<FoundAccount | undefined> {
  const name = exchange.match.parameter(parameter)
  return isName(name) ? after(exchange.settings.directory.findAccount(name, exchange.context), toAccount) : undefined
}

/** Refuses an account of an unknown kind, so that it is not taken for a user or an organization. */
function toAccount(account: AccountRef | null | undefined): FoundAccount | undefined {
  if (isNil(account)) return undefined

  const { kind, id } = account
  if (kind === 'user' || kind === 'organization') return { kind, id: toId(id, 'account.id') }
  throw new TypeError("findAccount must return { kind: 'user' or 'organization', id }, undefined or null")
}

function existingAccount(account: FoundAccount | undefined): FoundAccount {
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
    read: (exchange) => enterOrganization(exchange, action),
  }
}

function enterOrganization<A extends Actor>(exchange: RequestContext<A>, action: OrganizationAction): MaybePromise<Id> {
  return after(findAccount(exchange, 'org'), (account) => {
    if (account?.kind !== 'organization') throw notFound('organization')

    const organizationId = account.id
    const authorized = exchange.operations.authorize(exchange.actor, { action, organizationId }, exchange.context)
    return after(authorized, () => organizationId)
  })
}

/** The actions on any user, which the policy decides before a name is looked up. */
export type UserAction = Exclude<
  Extract<Required<AccessRequest>, { readonly userId: unknown }>,
  { readonly userId: Id }
>['action']

/**
 * The user in the path. The input looks the name up only after the policy has allowed the caller this action on any
 * user. It does not find organizations.
 */
export function userFor(action: UserAction): Input<Id> {
  return {
    parameters: [{ name: 'username', in: 'path', schema: nameSchema, description: 'name of the user' }],
    action,
    errors: ['FORBIDDEN', 'USER_NOT_FOUND'],
    read: (exchange) => findUser(exchange, action),
  }
}

function findUser<A extends Actor>(exchange: RequestContext<A>, action: UserAction): MaybePromise<Id> {
  const authorized = exchange.operations.authorize(exchange.actor, { action, userId: undefined }, exchange.context)
  const account = after(authorized, () => findAccount(exchange, 'username'))
  return after(account, userIdOf)
}

function userIdOf(account: FoundAccount | undefined): Id {
  if (account?.kind !== 'user') throw notFound('user')
  return account.id
}

/** The actions on a repository. */
export type RepositoryAction = Extract<AccessRequest, { readonly repositoryId: Id }>['action']

/** The two names in the path of a repository. */
const repositoryParameters: readonly Parameter[] = [
  { name: 'owner', in: 'path', schema: nameSchema, description: 'owner of the repository' },
  { name: 'repo', in: 'path', schema: nameSchema, description: 'name of the repository' },
]

/** The repository in the path. The input fails unless the policy allows the caller this action there. */
export function repositoryFor(action: RepositoryAction): Input<Id> {
  return {
    parameters: repositoryParameters,
    action,
    errors: ['REPOSITORY_NOT_FOUND', 'FORBIDDEN'],
    read: (exchange) => enterRepository(exchange, action),
  }
}

/**
 * Finds the repository in the path and asks the policy.
 *
 * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`. Source: docs/behaviour.md, Everywhere
 */
function enterRepository<A extends Actor>(exchange: RequestContext<A>, action: RepositoryAction): MaybePromise<Id> {
  const { context, operations, settings } = exchange
  const owner = exchange.match.parameter('owner')
  const name = exchange.match.parameter('repo')
  if (!isName(owner) || !isName(name)) throw notFound('repository')

  return after(settings.directory.findRepository(owner, name, context), (repository) => {
    if (isNil(repository)) throw notFound('repository')

    const repositoryId = toId(repository.id, 'repository.id')
    const authorized = operations.authorize(exchange.actor, { action, repositoryId }, context)
    return after(authorized, () => repositoryId)
  })
}

/**
 * The issue or pull request in the path. The input fails unless the policy allows the caller this action in its
 * repository.
 */
export function issueFor(action: RepositoryAction): Input<IssueRef> {
  return {
    parameters: [
      ...repositoryParameters,
      {
        name: 'index',
        in: 'path',
        schema: { type: 'integer', format: 'int64', minimum: 1 },
        description: 'index of the issue or pull request',
      },
    ],
    action,
    errors: ['REPOSITORY_NOT_FOUND', 'FORBIDDEN', 'ISSUE_NOT_FOUND'],
    read: (exchange) => findIssue(exchange, action),
  }
}

function findIssue<A extends Actor>(exchange: RequestContext<A>, action: RepositoryAction): MaybePromise<IssueRef> {
  return after(enterRepository(exchange, action), (repositoryId) => {
    const index = parseInteger(exchange.match.parameter('index'))
    if (index === undefined || index < 1 || !Number.isSafeInteger(index)) throw notFound('issue')

    const issue = exchange.settings.directory.findIssue(repositoryId, index, exchange.context)
    return after(issue, (found) => checkIssue(found, repositoryId))
  })
}

function checkIssue(issue: IssueRef | null | undefined, repositoryId: Id): IssueRef {
  if (isNil(issue)) throw notFound('issue')
  if (toId(issue.repositoryId, 'issue.repositoryId') === repositoryId) return issue
  throw new TypeError('findIssue returned an issue of another repository')
}
