// Who may do what, and what it costs, written down once more from docs/behaviour.md and docs/databases.md. Nothing here may be imported from the library.

/** Everyone who can ask. All but the first two are signed in; each collaborates in, or belongs to, whatever there is. */
export const CALLERS = [
  'invalid credential',
  'anonymous',
  'stranger',
  'blocked', // by every organization
  'reader', // of every repository, as are the next two
  'writer',
  'admin',
  'member', // of every organization
  'owner', // of every organization
  'una', // these three own repositories
  'lia',
  'pam',
  'root', // the site admin
] as const
export type Caller = (typeof CALLERS)[number]

/** Who owns repositories, one public and one private: an organization and a user of each visibility. */
export const OWNERS = [
  { name: 'open', kind: 'organization', visibility: 'public' },
  { name: 'insiders', kind: 'organization', visibility: 'limited' },
  { name: 'closed', kind: 'organization', visibility: 'private' },
  { name: 'una', kind: 'user', visibility: 'public' },
  { name: 'lia', kind: 'user', visibility: 'limited' },
  { name: 'pam', kind: 'user', visibility: 'private' },
] as const
type Owner = (typeof OWNERS)[number]

/** What a request is about; what its path does not name is undefined. */
export interface Subject {
  readonly owner?: Owner | undefined
  /** Undefined: not found. */
  readonly repository?: 'public' | 'private' | undefined
}

/** What is expected of a route. */
export interface RouteRule {
  /** The action for which it asks the policy, once; undefined: it asks nothing. */
  readonly asks: string | undefined
  /** The role that it takes. */
  readonly needs:
    | 'nothing'
    | 'the user'
    | 'repository reader'
    | 'repository admin'
    | 'organization owner'
    | 'site admin'
  /** How many statements the host of `forgelet serve` runs for a request, whatever the length of its page. */
  readonly statements: number
}

/** One rule for each route, by its operation: a route without one fails the table. */
export type RouteRules = Readonly<Record<string, RouteRule>>

/** What a caller learns who may not make a request: a status and a code. Undefined: the caller may. */
export function refusalOf(rule: RouteRule, caller: Caller, subject: Subject): string | undefined {
  if (caller === 'invalid credential') return '401 INVALID_CREDENTIALS'
  if (isHidden(rule, caller, subject)) {
    return rule.needs === 'organization owner' ? '404 ORGANIZATION_NOT_FOUND' : '404 REPOSITORY_NOT_FOUND'
  }
  if (isRole(rule, caller, subject)) return undefined
  return caller === 'anonymous' ? '401 UNAUTHENTICATED' : '403 FORBIDDEN'
}

/** Whether the caller may not know that there is such a repository or organization, or it does not exist. */
function isHidden({ needs }: RouteRule, caller: Caller, { owner, repository }: Subject): boolean {
  switch (needs) {
    case 'nothing':
    case 'the user':
    case 'site admin':
      return false
    case 'organization owner':
      if (owner?.kind !== 'organization') return true
      return !isOneOf(caller, ['member', 'owner', 'root']) && !isInSight(owner, caller)
    case 'repository reader':
    case 'repository admin':
      return owner === undefined || repository === undefined || !isReader(caller, owner, repository)
  }
}

function isRole({ needs }: RouteRule, caller: Caller, { owner }: Subject): boolean {
  switch (needs) {
    case 'nothing':
    case 'repository reader': // or it would be hidden
      return true
    case 'repository admin':
      return owner !== undefined && isAdmin(caller, owner)
    case 'organization owner':
      return isOneOf(caller, ['owner', 'root'])
    case 'the user':
      return caller !== 'anonymous' // each request is about its caller
    case 'site admin':
      return caller === 'root'
  }
}

function isReader(caller: Caller, owner: Owner, repository: 'public' | 'private'): boolean {
  if (isAdmin(caller, owner) || isOneOf(caller, ['reader', 'writer'])) return true
  if (owner.kind === 'organization' && caller === 'member') return true
  return repository === 'public' && isInSight(owner, caller)
}

function isAdmin(caller: Caller, owner: Owner): boolean {
  if (isOneOf(caller, ['admin', 'root'])) return true
  return owner.kind === 'organization' ? caller === 'owner' : caller === owner.name
}

function isInSight({ visibility }: Owner, caller: Caller): boolean {
  return visibility === 'public' || (visibility === 'limited' && caller !== 'anonymous')
}

function isOneOf(caller: Caller, callers: readonly Caller[]): boolean {
  return callers.includes(caller)
}
