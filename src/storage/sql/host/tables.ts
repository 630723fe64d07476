import { need, propertyOf } from '../../../schema/arguments.ts'
import type { OptionRule, OptionRules } from '../../../schema/options.ts'
import { ANY, checkOptions, oneOf, optional } from '../../../schema/options.ts'
import type { HostThing, PinKind } from '../../../schema/records.ts'
import type { HostPorts } from '../../contract/host.ts'

/**
 * A table of the host in the database of the storage. Conditions are SQL of the host: they are written into statements as
 * they are, so they never come from a request.
 */
export interface HostTable {
  /** The name of the table. */
  readonly table: string
  /** The schema of the table. Default: that of an unqualified name. PostgreSQL and MariaDB only. */
  readonly schema?: string | undefined
  /** The column of the id: the primary key, or unique. Default: `id`. */
  readonly id?: string | undefined
  /**
   * The type of that column, which MariaDB wants on both sides of a key: `int unsigned`. Only a plan that is made without
   * the database needs it; `migrate()` reads it.
   */
  readonly type?: string | undefined
  /**
   * A condition on the columns of the table: which rows exist for the forge, such as `deleted_at is null`. What refers to
   * another row is hidden, and is there again when the condition is true again. Default: every row.
   */
  readonly where?: string | undefined
  /**
   * Whether `migrate()` creates foreign keys to the table, on SQLite a trigger. `false` for a view: every read looks whether
   * the row still exists. Default: true.
   */
  readonly keys?: boolean | undefined
}

/** The table of the users. */
export interface UserTable extends HostTable {
  /** The column of the name that paths have. Default: `name`. */
  readonly name?: string | undefined
  /** The column of the full name, for presenters. */
  readonly fullName?: string | undefined
  /** The column of the e-mail address, for presenters. */
  readonly email?: string | undefined
  /** The column of the address of the avatar, for presenters. */
  readonly avatar?: string | undefined
}

/** The table of the organizations. It may be that of the users, with another condition. */
export interface OrganizationTable extends HostTable {
  /** The column of the name that paths have. Default: `name`. */
  readonly name?: string | undefined
  /** A condition: which organizations only their members see. Default: none. */
  readonly private?: string | undefined
}

/** The table of the members of organizations: one row for each organization and user. */
export interface MemberTable {
  /** The name of the table. */
  readonly table: string
  /** The schema of the table. Default: that of an unqualified name. */
  readonly schema?: string | undefined
  /** The column that refers to the organization. */
  readonly organization: string
  /** The column that refers to the user. */
  readonly user: string
  /** A condition: which rows are memberships. Default: every row. */
  readonly where?: string | undefined
  /** A condition: which members are owners, such as `role = 'owner'`. Default: none. */
  readonly owner?: string | undefined
  /**
   * What refuses a new member whom the organization blocks: a trigger on this table, which `migrate()` creates, or nothing,
   * for hosts that may not create triggers. Default: `'trigger'`.
   */
  readonly check?: 'trigger' | 'none' | undefined
}

/** The table of the repositories. */
export interface RepositoryTable extends HostTable {
  /** The column of the name that paths have. Default: `name`. */
  readonly name?: string | undefined
  /** The columns that refer to the owner. One of them is null where a repository has the other. */
  readonly owner: { readonly organization?: string | undefined; readonly user?: string | undefined }
  /** A condition: which repositories only their owners and members see. Default: none. */
  readonly private?: string | undefined
}

/** The table of the issues, or that of the pull requests. */
export interface IssueTable extends HostTable {
  /** The column that refers to the repository. */
  readonly repository: string
  /** The column of the number within the repository. */
  readonly number: string
  /** A condition: which rows are pull requests, where both are in this table. Default: none. */
  readonly pullRequest?: string | undefined
  /** The column of the title, for presenters. */
  readonly title?: string | undefined
  /** The column of the text, for presenters. */
  readonly body?: string | undefined
  /** A condition: which are closed, for presenters. Default: none. */
  readonly closed?: string | undefined
  /** The column that refers to the author, for presenters. */
  readonly author?: string | undefined
  /** The column of the time of creation, for presenters. */
  readonly createdAt?: string | undefined
  /** The column of the time of the last change, for presenters. */
  readonly updatedAt?: string | undefined
}

/**
 * The tables of the host that the storage knows. What is left out is asked by ports, and reported to `lifecycle`.
 * Source: docs/databases.md, Your tables
 */
export interface HostTables {
  readonly users?: UserTable | undefined
  readonly organizations?: OrganizationTable | undefined
  readonly members?: MemberTable | undefined
  readonly repositories?: RepositoryTable | undefined
  /** The issues, and the pull requests unless they have a table of their own. */
  readonly issues?: IssueTable | undefined
  /** The pull requests, if they have a table of their own. */
  readonly pullRequests?: Omit<IssueTable, 'pullRequest'> | undefined
  /**
   * Whether `migrate()` creates foreign keys to the tables, on SQLite triggers. Without them, every read looks whether the
   * row of the host still exists, and what is reported to `lifecycle` is removed. Default: true.
   */
  readonly keys?: boolean | undefined
}

/** The ports that tables answer. */
export type HostPortsOf<Tx, T extends HostTables> = (T extends { readonly users: UserTable }
  ? Pick<HostPorts<Tx>, 'findAccount' | 'users'>
  : unknown) &
  (T extends { readonly repositories: RepositoryTable }
    ? Pick<HostPorts<Tx>, 'findRepository' | 'standingInRepository'>
    : unknown) &
  (T extends { readonly issues: IssueTable } ? Pick<HostPorts<Tx>, 'findIssue' | 'issues' | 'pullRequests'> : unknown) &
  (T extends { readonly members: MemberTable } ? Pick<HostPorts<Tx>, 'isMember' | 'standingInOrganization'> : unknown)

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const EXPECTED = 'a text that is not empty'
const TEXT: OptionRule = optional(isText, EXPECTED)
const FLAG: OptionRule = optional((value) => typeof value === 'boolean', 'true or false')
const NEEDED: OptionRule = [isText, 'the name of a table or a column']
const COLUMN: OptionRule = optional(isText, EXPECTED)
const NEEDED_COLUMN: OptionRule = [...NEEDED]
const CONDITION: OptionRule = optional(isText, EXPECTED)

const ROW: OptionRules<HostTable> = {
  table: NEEDED,
  schema: TEXT,
  id: COLUMN,
  type: TEXT,
  where: CONDITION,
  keys: FLAG,
}
const ISSUE: OptionRules<Omit<IssueTable, 'pullRequest'>> = {
  ...ROW,
  repository: NEEDED_COLUMN,
  number: NEEDED_COLUMN,
  title: COLUMN,
  body: COLUMN,
  closed: CONDITION,
  author: COLUMN,
  createdAt: COLUMN,
  updatedAt: COLUMN,
}
const OWNER: OptionRules<RepositoryTable['owner']> = { organization: COLUMN, user: COLUMN }

/** The name of a table of the host in the option `tables`. */
export type HostTableOption = Exclude<keyof HostTables, 'keys'>

/** The rules of each table. */
const RULES: { readonly [K in HostTableOption]-?: OptionRules<NonNullable<HostTables[K]>> } = {
  users: { ...ROW, name: COLUMN, fullName: COLUMN, email: COLUMN, avatar: COLUMN },
  organizations: { ...ROW, name: COLUMN, private: CONDITION },
  members: {
    table: NEEDED,
    schema: TEXT,
    organization: NEEDED_COLUMN,
    user: NEEDED_COLUMN,
    where: CONDITION,
    owner: CONDITION,
    check: oneOf('trigger', 'none'),
  },
  repositories: { ...ROW, name: COLUMN, owner: ANY, private: CONDITION },
  issues: { ...ISSUE, pullRequest: CONDITION },
  pullRequests: ISSUE,
}

/** The columns that options have if the host names no others. */
const DEFAULTS: Readonly<Record<string, string>> = { id: 'id', name: 'name' }

/** A table of the host, with the columns and the conditions on its rows, by the options that name them. */
export interface DescribedTable {
  readonly name: HostTableOption
  readonly host: Pick<HostTable, 'table' | 'schema' | 'keys'>
  readonly columns: Readonly<Record<string, string>>
  readonly conditions: Readonly<Record<string, string>>
}

const TABLE_OPTIONS = ['users', 'organizations', 'members', 'repositories', 'issues', 'pullRequests'] as const

/** Returns the tables that the storage knows. */
export function describedTables(tables: HostTables = {}): readonly DescribedTable[] {
  return TABLE_OPTIONS.flatMap((name) => {
    const host = tables[name]
    if (host === undefined) return []
    const owner = name === 'repositories' ? textsOf(tables.repositories?.owner, OWNER, [COLUMN], 'owner.') : {}
    const columns = { ...textsOf(host, RULES[name], [COLUMN, NEEDED_COLUMN]), ...owner }
    return [{ name, host, columns, conditions: textsOf(host, RULES[name], [CONDITION]) }]
  })
}

/** Returns the texts that options of some kinds have, or their defaults. */
function textsOf(
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>,
  kinds: readonly OptionRule[],
  within = '',
): Readonly<Record<string, string>> {
  const texts = Object.entries(rules).flatMap(([option, rule]) => {
    const text = propertyOf(options, option) ?? DEFAULTS[option]
    return kinds.includes(rule) && typeof text === 'string' ? [[within + option, text] as const] : []
  })
  return Object.fromEntries(texts)
}

/**
 * Checks the option `tables` of a storage.
 *
 * @param caller - the name of the public function
 * @throws TypeError with the name of what is missing, unknown or invalid
 */
export function checkHostTables(caller: string, tables: HostTables): void {
  checkOptions<HostTables>(
    caller,
    tables,
    {
      users: ANY,
      organizations: ANY,
      members: ANY,
      repositories: ANY,
      issues: ANY,
      pullRequests: ANY,
      keys: FLAG,
    },
    'tables.',
  )
  for (const [name, rules] of Object.entries<OptionRules<Record<string, unknown>>>(RULES)) {
    const table = propertyOf(tables, name)
    if (table !== undefined) checkOptions(caller, table, rules, `tables.${name}.`)
  }
  const { users, organizations, members, repositories, issues, pullRequests } = tables
  if (repositories !== undefined) checkOptions(caller, repositories.owner, OWNER, 'tables.repositories.owner.')

  const { organization, user } = repositories?.owner ?? {}
  const asked = (isValid: boolean, name: string, why: string): void => need(isValid, caller, `tables.${name}`, why)
  asked(members === undefined || users !== undefined, 'users', 'the users of tables.members')
  asked(members === undefined || organizations !== undefined, 'organizations', 'the organizations of tables.members')
  asked(organization === undefined || organizations !== undefined, 'organizations', 'owners of repositories')
  asked(user === undefined || users !== undefined, 'users', 'owners of repositories')
  asked(
    repositories === undefined || organization !== undefined || user !== undefined,
    'repositories.owner',
    "{ organization: 'org_id' }, { user: 'user_id' } or both",
  )
  asked(pullRequests === undefined || issues !== undefined, 'issues', 'the issues beside tables.pullRequests')
  asked(
    pullRequests === undefined || issues?.pullRequest === undefined,
    'issues.pullRequest',
    'nothing, because tables.pullRequests has the pull requests',
  )
}

const NAMES = { user: 'users', organization: 'organizations', repository: 'repositories' } as const

/** The kind of row of the host that forgelet's rows refer to: of issues, which of the two kinds. */
export interface HostRow {
  readonly thing: HostThing
  /** Undefined: an issue, or something else. */
  readonly kind?: PinKind | undefined
}

/** Returns the table that has a thing of the host, if the storage knows it. */
export function tableOf(tables: HostTables | undefined, { thing, kind }: HostRow): HostTable | undefined {
  if (tables === undefined) return undefined
  if (thing !== 'issue') return tables[NAMES[thing]]
  return issuesOf(tables, kind)
}

/** Returns the table that has the issues of a kind. */
export function issuesOf(tables: HostTables | undefined, kind: PinKind | undefined): IssueTable | undefined {
  return kind === 'pullRequest' ? (tables?.pullRequests ?? tables?.issues) : tables?.issues
}

/** Returns whether keys refer to a table: then no row of the forge stays when the row of the host is removed. */
export function hasKeys(tables: HostTables | undefined, { keys = true }: Pick<HostTable, 'keys'>): boolean {
  return keys && tables?.keys !== false
}

/** Returns whether issues and pull requests have ids of their own, so that two of them may have the same. */
export function hasTwoIssueTables(tables: HostTables | undefined): boolean {
  return tables?.pullRequests !== undefined
}

/** Returns whether a trigger refuses members whom their organization blocks. */
export function isFenced(tables: HostTables | undefined): boolean {
  return tables?.members !== undefined && tables.members.check !== 'none'
}
