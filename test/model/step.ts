import fc from 'fast-check'
import type { AccountRef, IssueRef } from '../../src/index.ts'
import type { Who } from './world.ts'
import { ISSUES, ORGANIZATIONS, REPOSITORIES, SLUGS, USERS } from './world.ts'

type Issue = IssueRef & { readonly id: string; readonly repositoryId: string }
type Account = AccountRef & { readonly id: string }

/** One call of a service, as plain data. */
export type Step =
  | { readonly call: 'pin' | 'unpin' | 'history'; readonly as: Who; readonly issue: Issue }
  | { readonly call: 'move'; readonly as: Who; readonly issue: Issue; readonly position: number }
  | { readonly call: 'listPins'; readonly as: Who; readonly repositoryId: string; readonly kind: Issue['kind'] }
  | { readonly call: 'allowed'; readonly as: Who; readonly repositoryId: string }
  | {
      readonly call: 'block'
      readonly as: Who
      readonly organizationId: string
      readonly account: Account
      readonly note: string | undefined
    }
  | { readonly call: 'unblock'; readonly as: Who; readonly organizationId: string; readonly account: Account }
  | { readonly call: 'findBlock'; readonly as: Who; readonly organizationId: string; readonly userId: string }
  | {
      readonly call: 'listBlocks'
      readonly as: Who
      readonly organizationId: string
      readonly page: number
      readonly limit: number
    }
  | { readonly call: 'walkBlocks'; readonly as: 'system'; readonly organizationId: string; readonly limit: number }
  | {
      readonly call: 'filterBlocked'
      readonly as: 'system'
      readonly organizationId: string
      readonly userIds: readonly string[]
    }
  | { readonly call: 'grant' | 'revoke'; readonly as: Who; readonly userId: string; readonly slugs: readonly string[] }
  | { readonly call: 'heldBy'; readonly as: Who; readonly userId: string }
  | {
      readonly call: 'define' | 'update'
      readonly as: Who
      readonly slug: string
      readonly description: string | undefined
    }
  | { readonly call: 'remove' | 'findBadge'; readonly as: Who; readonly slug: string }
  | { readonly call: 'listBadges'; readonly as: Who; readonly page: number; readonly limit: number }
  | { readonly call: 'userDeleted'; readonly as: 'system'; readonly userId: string }
  | { readonly call: 'organizationDeleted'; readonly as: 'system'; readonly organizationId: string }
  | { readonly call: 'repositoryDeleted'; readonly as: 'system'; readonly repositoryId: string }
  | { readonly call: 'issueDeleted'; readonly as: 'system'; readonly issue: Issue }
  | {
      readonly call: 'memberAdded' | 'memberRemoved'
      readonly as: 'system'
      readonly organizationId: string
      readonly userId: string
    }

/** Every name a step can have. */
export type Call = Step['call']

/** The steps of one name. */
export type StepOf<C extends Call, S = Step> = S extends { readonly call: infer Calls }
  ? C extends Calls
    ? S
    : never
  : never

const as: fc.Arbitrary<Who> = fc.oneof(
  { weight: 16, arbitrary: fc.constant('owner') },
  { weight: 2, arbitrary: fc.constant('system') },
  { weight: 1, arbitrary: fc.constantFrom('stranger', 'outsider', 'anonymous') },
)
const system = fc.constant('system' as const)
const issue = mostlyTheFirst(ISSUES, 4)
const repositoryId = mostlyTheFirst(REPOSITORIES, 1)
const organizationId = mostlyTheFirst(ORGANIZATIONS, 1)
const userId = fc.constantFrom(...USERS)
const slug = fc.constantFrom(...SLUGS)
const strangeSlug = fc.oneof({ weight: 9, arbitrary: slug }, fc.constantFrom('', 'x'.repeat(256)))
const slugs = fc.array(fc.oneof({ weight: 19, arbitrary: slug }, fc.constant('dodo')), { maxLength: 3 })
const number = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.constantFrom(0, -1, 1.5, 1001))
const limit = fc.integer({ min: 1, max: 3 })
const note = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(undefined, '', 'spam', '🦉'.repeat(255)) },
  fc.constantFrom('🦉'.repeat(256), 'a\0b', '\ud800'),
)
const description = fc.constantFrom(undefined, '', 'Ships after midnight 🦉', 'y'.repeat(4001))
const account = fc.oneof(
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('user' as const), id: userId }) },
  fc.record({ kind: fc.constant('organization' as const), id: organizationId }),
)

/** Any of them, the first few more often, so that a run goes deep somewhere. */
function mostlyTheFirst<T>(all: readonly T[], few: number): fc.Arbitrary<T> {
  return fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...all.slice(0, few)) }, fc.constantFrom(...all))
}

function call<const C extends Call>(...names: readonly C[]): fc.Arbitrary<C> {
  return fc.constantFrom(...names)
}

const pinStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ call: call('pin', 'pin', 'unpin'), as, issue }) },
  { weight: 5, arbitrary: fc.record({ call: call('move'), as, issue, position: number }) },
  { weight: 1, arbitrary: fc.record({ call: call('history'), as, issue }) },
  { weight: 1, arbitrary: fc.record({ call: call('listPins'), as, repositoryId, kind: issue.map((one) => one.kind) }) },
  { weight: 1, arbitrary: fc.record({ call: call('allowed'), as, repositoryId }) },
  { weight: 1, arbitrary: fc.record({ call: call('issueDeleted'), as: system, issue }) },
)

const member = { as: system, organizationId, userId }
const blockStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ call: call('block'), as, organizationId, account, note }) },
  { weight: 5, arbitrary: fc.record({ call: call('unblock'), as, organizationId, account }) },
  { weight: 3, arbitrary: fc.record({ call: call('memberAdded', 'memberRemoved'), ...member }) },
  { weight: 1, arbitrary: fc.record({ call: call('findBlock'), as, organizationId, userId }) },
  { weight: 1, arbitrary: fc.record({ call: call('listBlocks'), as, organizationId, page: number, limit: number }) },
  { weight: 1, arbitrary: fc.record({ call: call('walkBlocks'), as: system, organizationId, limit }) },
  {
    weight: 1,
    arbitrary: fc.record({ call: call('filterBlocked'), as: system, organizationId, userIds: fc.array(userId) }),
  },
)

const badgeStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ call: call('grant', 'grant', 'revoke'), as, userId, slugs }) },
  { weight: 5, arbitrary: fc.record({ call: call('define', 'update'), as, slug: strangeSlug, description }) },
  { weight: 2, arbitrary: fc.record({ call: call('remove', 'remove', 'findBadge'), as, slug }) },
  { weight: 1, arbitrary: fc.record({ call: call('heldBy'), as, userId }) },
  { weight: 1, arbitrary: fc.record({ call: call('listBadges'), as, page: number, limit: number }) },
)

const farewellStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ call: call('userDeleted'), as: system, userId }),
  fc.record({ call: call('organizationDeleted'), as: system, organizationId }),
  fc.record({ call: call('repositoryDeleted'), as: system, repositoryId }),
)

/** The steps of each service that keeps something itself. */
const stateful = [pinStep, blockStep, badgeStep]

/** One step of one service, or of all; what cannot be undone comes seldom. */
const modules: readonly fc.Arbitrary<Step>[] = [...stateful, fc.oneof(...stateful)]

/** Makes lists of steps, each about one service or about all. */
export function listsOf<T>(listed: (step: fc.Arbitrary<Step>) => fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof(
    ...modules.map((module) =>
      listed(fc.oneof({ weight: 29, arbitrary: module }, { weight: 1, arbitrary: farewellStep })),
    ),
  )
}

/** What every run begins with: badges to grant. */
export const FIRST_STEPS: readonly Step[] = SLUGS.slice(1).map((one) => ({
  call: 'define',
  as: 'system',
  slug: one,
  description: undefined,
}))
