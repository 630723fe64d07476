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
  readonly values: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** A status, and the code of an error. */
export type Answer = '200' | '204' | `${number} ${string}`

/** What is expected of a route. */
export interface RouteRule {
  /** The action for which it asks the policy, once; undefined: it asks nothing. */
  readonly asks: string | undefined
  /** The role that it takes. */
  readonly needs: 'nothing' | 'repository reader' | 'repository admin' | 'organization owner' | 'site admin'
  /** How many statements the host of `forgelet serve` runs for a request, whatever the length of its page. */
  readonly statements: number
  /** The values that each parameter of the path is given, besides owners, repositories and organizations. */
  readonly values?: Readonly<Record<string, readonly string[]>>
  readonly bodies?: readonly string[]
  /** What is answered once the caller may do it. */
  answer(subject: Subject): Answer
}

const ISSUES = ['1', '2', '99']
const ACCOUNTS = ['eve', 'member', 'pam', 'open', 'unknown-name']
const BODIES = ['{"badge_slugs":[]}', 'not JSON']

/** One rule for each route, by its operation: a route without one fails the table. */
export const RULES: Readonly<Record<string, RouteRule>> = {
  getSigningKey: { asks: undefined, needs: 'nothing', statements: 1, answer: () => '404 SIGNING_KEY_FORMAT_MISMATCH' },
  getSigningKeySSH: { asks: undefined, needs: 'nothing', statements: 1, answer: () => '200' },
  repoSigningKey: {
    asks: 'signing-keys.read',
    needs: 'repository reader',
    statements: 3,
    answer: () => '404 SIGNING_KEY_FORMAT_MISMATCH',
  },
  repoSigningKeySSH: { asks: 'signing-keys.read', needs: 'repository reader', statements: 3, answer: () => '200' },

  repoListPinnedIssues: { asks: 'pins.read', needs: 'repository reader', statements: 9, answer: () => '200' },
  repoListPinnedPullRequests: { asks: 'pins.read', needs: 'repository reader', statements: 9, answer: () => '200' },
  repoNewPinAllowed: { asks: 'pins.read', needs: 'repository reader', statements: 3, answer: () => '200' },
  pinIssue: {
    asks: 'pins.write',
    needs: 'repository admin',
    statements: 4,
    values: { index: ISSUES },
    answer: (subject) => onIssue(subject, '204'),
  },
  unpinIssue: {
    asks: 'pins.write',
    needs: 'repository admin',
    statements: 4,
    values: { index: ISSUES },
    answer: (subject) => onIssue(subject, '204'),
  },
  moveIssuePin: {
    asks: 'pins.write',
    needs: 'repository admin',
    statements: 4,
    values: { index: ['3', '99'], position: ['1', '0'] },
    answer: (subject) =>
      onIssue(subject, subject.values['position'] === '0' ? '422 INVALID_INPUT' : '404 ISSUE_NOT_PINNED'),
  },

  repoExportIssues: { asks: 'issues.export', needs: 'repository reader', statements: 8, answer: () => '200' },
  repoImportIssues: {
    asks: 'issues.import',
    needs: 'repository admin',
    statements: 3,
    bodies: ['[]', 'not JSON'],
    answer: ({ body }) => (body === '[]' ? '200' : '422 INVALID_DOCUMENT'),
  },

  organizationListBlocks: { asks: 'blocks.read', needs: 'organization owner', statements: 4, answer: () => '200' },
  organizationCheckUserBlock: {
    asks: 'blocks.read',
    needs: 'organization owner',
    statements: 4,
    values: { username: ACCOUNTS },
    answer: (subject) =>
      onAccount(subject, { user: '404 NOT_BLOCKED', member: '404 NOT_BLOCKED', organization: '404 NOT_BLOCKED' }),
  },
  organizationBlockUser: {
    asks: 'blocks.write',
    needs: 'organization owner',
    statements: 5,
    values: { username: ACCOUNTS },
    answer: (subject) =>
      onAccount(subject, {
        user: '204',
        member: '422 CANNOT_BLOCK_MEMBER',
        organization: '422 CANNOT_BLOCK_ORGANIZATION',
      }),
  },
  organizationUnblockUser: {
    asks: 'blocks.write',
    needs: 'organization owner',
    statements: 4,
    values: { username: ACCOUNTS },
    answer: (subject) =>
      onAccount(subject, {
        user: '422 NOT_BLOCKED',
        member: '422 NOT_BLOCKED',
        organization: '422 CANNOT_BLOCK_ORGANIZATION',
      }),
  },

  adminListUserBadges: {
    asks: 'badges.read',
    needs: 'site admin',
    statements: 3,
    values: { username: ACCOUNTS },
    answer: (subject) => onUser(subject, '200'),
  },
  adminAddUserBadges: {
    asks: 'badges.grant',
    needs: 'site admin',
    statements: 3,
    values: { username: ACCOUNTS },
    bodies: BODIES,
    answer: (subject) => onUser(subject, withSlugs(subject)),
  },
  adminDeleteUserBadges: {
    asks: 'badges.grant',
    needs: 'site admin',
    statements: 3,
    values: { username: ACCOUNTS },
    bodies: BODIES,
    answer: (subject) => onUser(subject, withSlugs(subject)),
  },
}

/** What a request is answered. The order of these lines is the order of checks. */
export function expected(rule: RouteRule, caller: Caller, subject: Subject): Answer {
  if (caller === 'invalid credential') return '401 INVALID_CREDENTIALS'
  if (isHidden(rule, caller, subject)) {
    return rule.needs === 'organization owner' ? '404 ORGANIZATION_NOT_FOUND' : '404 REPOSITORY_NOT_FOUND'
  }
  if (isRole(rule, caller, subject)) return rule.answer(subject)
  return caller === 'anonymous' ? '401 UNAUTHENTICATED' : '403 FORBIDDEN'
}

/** Whether the caller may not know that there is such a repository or organization, or it does not exist. */
function isHidden({ needs }: RouteRule, caller: Caller, { owner, repository }: Subject): boolean {
  switch (needs) {
    case 'nothing':
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

function onIssue({ values }: Subject, answer: Answer): Answer {
  return values['index'] === '99' ? '404 ISSUE_NOT_FOUND' : answer
}

function onAccount({ values }: Subject, answers: Readonly<Record<'user' | 'member' | 'organization', Answer>>): Answer {
  const { username = '' } = values
  if (username === 'unknown-name') return '404 USER_NOT_FOUND'
  if (OWNERS.some(({ name, kind }) => name === username && kind === 'organization')) return answers.organization
  return username === 'member' ? answers.member : answers.user
}

function onUser(subject: Subject, answer: Answer): Answer {
  return onAccount(subject, { user: answer, member: answer, organization: '404 USER_NOT_FOUND' })
}

function withSlugs({ body }: Subject): Answer {
  return body === 'not JSON' ? '422 INVALID_INPUT' : '204'
}
