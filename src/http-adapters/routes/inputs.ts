import { ForgeError, isForgeError, notFound } from '../../schema/errors.ts'
import type { Id } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { AccessRequest, AccountRef, IssueRef } from '../../schema/records.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { WantedOfRepository } from './ports.ts'
import { isNil } from './ports.ts'
import type { RouteRequest } from './route.ts'

// What routes take from the path. Source: docs/behaviour.md, Everywhere

/** The actions on what a request names by this id. */
type ActionOn<Name extends string> = Extract<AccessRequest, { readonly [K in Name]: Id }>['action']

/** The actions on any user, which the policy decides before a name is looked up. */
type UserAction = Exclude<
  Extract<Required<AccessRequest>, { readonly userId: unknown }>,
  { readonly userId: Id }
>['action']

/** Returns a decoded parameter of the path. */
export function parameterIn({ match: { names, values } }: RouteRequest, name: string): string {
  const at = names.indexOf(name)
  const value = at === -1 ? undefined : values?.[at + 1]
  if (value === undefined) throw new RangeError(`the path has no parameter ${name}`)
  return value
}

/**
 * Finds the organization `{org}`, and asks the policy whether the caller is allowed this action there.
 *
 * @throws ForgeError `ORGANIZATION_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`
 */
export function* organizationIn(r: RouteRequest, action: ActionOn<'organizationId'>): SyncOrAsync<Id> {
  const account = toAccount(yield* wait(findAccount(r, 'org', 'organization')))
  if (account?.kind !== 'organization') throw notFound('organization')

  const organizationId = account.id
  yield* wait(r.operations.authorize(r.actor, { action, organizationId }, r.context))
  return organizationId
}

/**
 * Finds the repository `{owner}/{repo}`, and asks the policy whether the caller is allowed this action there.
 *
 * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`
 */
export function* repositoryIn(
  r: RouteRequest,
  action: ActionOn<'repositoryId'>,
  wanted?: WantedOfRepository,
): SyncOrAsync<Id> {
  const [owner, name] = [parameterIn(r, 'owner'), parameterIn(r, 'repo')]
  if (!isName(owner) || !isName(name)) throw notFound('repository')

  const repository = yield* wait(r.settings.directory.findRepository(owner, name, r.context, wanted))
  if (isNil(repository)) throw notFound('repository')
  r.context.repository = repository

  const repositoryId = toId(repository.id, 'repository.id')
  yield* wait(r.operations.authorize(r.actor, { action, repositoryId }, r.context))
  return repositoryId
}

/**
 * Finds the issue or pull request `{index}` after its repository, where the policy has to allow the action.
 *
 * @throws ForgeError `REPOSITORY_NOT_FOUND`, `UNAUTHENTICATED`, `FORBIDDEN`, `ISSUE_NOT_FOUND`
 */
export function* issueIn(r: RouteRequest, action: ActionOn<'repositoryId'>): SyncOrAsync<IssueRef> {
  const index = parseInteger(parameterIn(r, 'index'))
  const isNumber = index !== undefined && index >= 1 && index <= MAX_ISSUE_NUMBER
  const repositoryId = yield* repositoryIn(r, action, isNumber ? { index } : undefined)
  if (!isNumber) throw notFound('issue')

  const issue = yield* wait(r.settings.directory.findIssue(repositoryId, index, r.context))
  if (isNil(issue)) throw notFound('issue')
  if (toId(issue.repositoryId, 'issue.repositoryId') === repositoryId) return issue
  throw new TypeError('findIssue returned an issue of another repository')
}

/**
 * Finds the user `{username}`, after the policy has allowed the caller this action on any user: who may not call the
 * operation does not learn which users exist. An organization is not found.
 *
 * @throws ForgeError `UNAUTHENTICATED`, `FORBIDDEN`, `USER_NOT_FOUND`
 */
export function* userIn(r: RouteRequest, action: UserAction): SyncOrAsync<Id> {
  yield* wait(r.operations.authorize(r.actor, { action, userId: undefined }, r.context))
  const account = toAccount(yield* wait(findAccount(r, 'username', 'user')))
  if (account?.kind !== 'user') throw notFound('user')
  return account.id
}

/**
 * Returns the caller, after the policy has allowed this action on what is the caller's own.
 *
 * @throws ForgeError `UNAUTHENTICATED`, `FORBIDDEN`, `USER_NOT_FOUND`
 */
export function* callerIn(r: RouteRequest, action: ActionOn<'userId'>): SyncOrAsync<Id> {
  if (typeof r.actor === 'string') throw new ForgeError('UNAUTHENTICATED', 'authentication is required')

  const userId = toId(r.actor.id, 'actor.id')
  yield* wait(r.operations.authorize(r.actor, { action, userId }, r.context))
  return userId
}

/**
 * Finds the user `{username}`, or the organization if there is no user of that name and the policy does not conceal it.
 *
 * @throws ForgeError `USER_NOT_FOUND`
 */
export function* accountIn(r: RouteRequest): SyncOrAsync<FoundAccount> {
  const account = toAccount(yield* wait(findAccount(r, 'username')))
  if (account === undefined) throw notFound('user')
  if (account.kind === 'organization' && (yield* isConcealed(r, account.id))) throw notFound('user')
  return account
}

function* isConcealed(r: RouteRequest, organizationId: Id): SyncOrAsync<boolean> {
  try {
    yield* wait(r.operations.authorize(r.actor, { action: 'blocks.read', organizationId }, r.context))
    return false
  } catch (error) {
    if (isForgeError(error, 'FORBIDDEN')) return false
    if (isForgeError(error, 'ORGANIZATION_NOT_FOUND')) return true
    throw error
  }
}

/** An account, with its id in canonical form. */
interface FoundAccount extends AccountRef {
  readonly id: Id
}

function findAccount(
  r: RouteRequest,
  parameter: string,
  wanted?: AccountRef['kind'],
): MaybePromise<AccountRef | undefined> {
  const name = parameterIn(r, parameter)
  return isName(name) ? r.settings.directory.findAccount(name, r.context, wanted) : undefined
}

/** Refuses an account of an unknown kind, so that it is not taken for a user or an organization. */
function toAccount(account: AccountRef | null | undefined): FoundAccount | undefined {
  if (isNil(account)) return undefined

  const { kind, id } = account
  if (kind === 'user' || kind === 'organization') return { kind, id: toId(id, 'account.id') }
  throw new TypeError("findAccount must return { kind: 'user' or 'organization', id }, undefined or null")
}

const CONTROL_CHARACTER = /\p{Cc}/u

/** Whether a text in a path can be a name at all. A text with control characters is not looked up. */
function isName(text: string): boolean {
  return !CONTROL_CHARACTER.test(text)
}

/** The largest number of an issue: columns of four bytes hold no larger one, and no repository has as many issues. */
const MAX_ISSUE_NUMBER = 2_147_483_647

const DECIMAL = /^\+?\d+$/
const MAX_INT64 = 9_223_372_036_854_775_807n

/**
 * Reads an integer in a path or query as Go's `strconv` does: decimal, with an optional plus sign and optional leading
 * zeros.
 *
 * @returns a number from 0 up, rounded beyond 2^53, `Infinity` beyond int64; undefined if the text is not such an
 * integer
 */
export function parseInteger(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined

  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  return BigInt(text.replace('+', '')) <= MAX_INT64 ? value : Number.POSITIVE_INFINITY
}
