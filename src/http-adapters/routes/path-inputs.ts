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
  read: (requestContext) => after(findAccount(requestContext, 'username'), existingAccount),
}

/**
 * Finds the account that a path parameter names.
 *
 * @throws TypeError when the directory returns anything but an account, undefined or null
 */
function findAccount<A extends Actor>(
  { match, settings, context }: RequestContext<A>,
  parameter: string,
): MaybePromise<FoundAccount | undefined> {
  const name = match.parameter(parameter)
  return isName(name) ? after(settings.directory.findAccount(name, context), toAccount) : undefined
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
    read: (requestContext) => enterOrganization(requestContext, action),
  }
}

function enterOrganization<A extends Actor>(
  requestContext: RequestContext<A>,
  action: OrganizationAction,
): MaybePromise<Id> {
  const { operations, actor, context } = requestContext
  return after(findAccount(requestContext, 'org'), (account) => {
    if (account?.kind !== 'organization') throw notFound('organization')

    const organizationId = account.id
    const authorized = operations.authorize(actor, { action, organizationId }, context)
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
    read: (requestContext) => findUser(requestContext, action),
  }
}

function findUser<A extends Actor>(requestContext: RequestContext<A>, action: UserAction): MaybePromise<Id> {
  const { operations, actor, context } = requestContext
  const authorized = operations.authorize(actor, { action, userId: undefined }, context)
  const account = after(authorized, () => findAccount(requestContext, 'username'))
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
    read: (requestContext) => enterRepository(requestContext, action),
  }
}

/**
 * Finds the repository in the path and asks the policy.
 *
 * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`. Source: docs/behaviour.md, Everywhere
 */
function enterRepository<A extends Actor>(
  { operations, actor, match, settings, context }: RequestContext<A>,
  action: RepositoryAction,
): MaybePromise<Id> {
  const owner = match.parameter('owner')
  const name = match.parameter('repo')
  if (!isName(owner) || !isName(name)) throw notFound('repository')

  return after(settings.directory.findRepository(owner, name, context), (repository) => {
    if (isNil(repository)) throw notFound('repository')

    const repositoryId = toId(repository.id, 'repository.id')
    const authorized = operations.authorize(actor, { action, repositoryId }, context)
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
    read: (requestContext) => findIssue(requestContext, action),
  }
}

function findIssue<A extends Actor>(
  requestContext: RequestContext<A>,
  action: RepositoryAction,
): MaybePromise<IssueRef> {
  const { match, settings, context } = requestContext
  return after(enterRepository(requestContext, action), (repositoryId) => {
    const index = parseInteger(match.parameter('index'))
    if (index === undefined || index < 1 || !Number.isSafeInteger(index)) throw notFound('issue')

    const issue = settings.directory.findIssue(repositoryId, index, context)
    return after(issue, (found) => checkIssue(found, repositoryId))
  })
}

function checkIssue(issue: IssueRef | null | undefined, repositoryId: Id): IssueRef {
  if (isNil(issue)) throw notFound('issue')
  if (toId(issue.repositoryId, 'issue.repositoryId') === repositoryId) return issue
  throw new TypeError('findIssue returned an issue of another repository')
}
