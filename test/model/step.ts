import fc from 'fast-check'
import type { AccountRef, IssueRef } from '../../src/index.ts'
import type { Who } from './world.ts'
import { ISSUES, ORGANIZATIONS, REPOSITORIES, SLUGS, USERS } from './world.ts'

export type Issue = IssueRef & { readonly id: string; readonly repositoryId: string }
type Account = AccountRef & { readonly id: string }
type Member = { readonly organizationId: string; readonly userId: string }
type Blocker =
  | { readonly organizationId: string; readonly blockerId?: undefined }
  | { readonly blockerId: string; readonly organizationId?: undefined }
type Target = Blocker & { readonly account: Account }
type Blockers = Blocker | { readonly organizationId: string; readonly blockerId: string }
type Page = { readonly page: number; readonly limit: number }
type Grants = { readonly userId: string; readonly slugs: readonly string[] }
type Definition = { readonly slug: string; readonly description: string | undefined }

/** Every step, with what it is about: the input of a method of a service. */
export interface Inputs {
  readonly pin: Issue
  readonly unpin: Issue
  readonly move: { readonly issue: Issue; readonly position: number }
  readonly listPins: Pick<Issue, 'repositoryId' | 'kind'>
  readonly allowed: string
  readonly history: Issue
  readonly block: Target & { readonly note: string | undefined }
  readonly unblock: Target
  readonly findBlock: Blocker & { readonly userId: string }
  readonly listBlocks: Page & Blocker
  readonly walkBlocks: Blocker & { readonly limit: number }
  readonly filterBlocked: Blockers & { readonly userIds: readonly string[] }
  readonly refuseBlocked: Blockers & { readonly userId: string }
  readonly grant: Grants
  readonly revoke: Grants
  readonly heldBy: string
  readonly define: Definition
  readonly update: Definition
  readonly remove: string
  readonly findBadge: string
  readonly listBadges: Page
  readonly userDeleted: string
  readonly organizationDeleted: string
  readonly repositoryDeleted: string
  readonly issueDeleted: Issue
  readonly memberAdded: Member
  readonly memberRemoved: Member
}
export type Call = keyof Inputs

/** One call of a service, as plain data. */
export type StepOf<C extends Call> = {
  [K in C]: { readonly call: K; readonly as: Who; readonly input: Inputs[K] }
}[C]
export type Step = StepOf<Call>

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
  { weight: 12, arbitrary: fc.record({ call: call('pin', 'pin', 'unpin'), as, input: issue }) },
  { weight: 5, arbitrary: fc.record({ call: call('move'), as, input: fc.record({ issue, position: number }) }) },
  { weight: 1, arbitrary: fc.record({ call: call('history', 'listPins'), as, input: issue }) },
  { weight: 1, arbitrary: fc.record({ call: call('allowed'), as, input: repositoryId }) },
  { weight: 1, arbitrary: fc.record({ call: call('issueDeleted'), as: system, input: issue }) },
)

const member = fc.record({ organizationId, userId })
const page = { page: number, limit: number }
const ofOne: fc.Arbitrary<Blocker> = fc.oneof(fc.record({ organizationId }), fc.record({ blockerId: userId }))
const ofSome: fc.Arbitrary<Blockers> = fc.oneof(ofOne, fc.record({ organizationId, blockerId: userId }))
/** An input about blocks: whose, and what else. */
function about<B, T>(blocker: fc.Arbitrary<B>, more: fc.Arbitrary<T>): fc.Arbitrary<B & T> {
  return fc.tuple(blocker, more).map(([whose, rest]) => ({ ...whose, ...rest }))
}
const blockStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ call: call('block'), as, input: about(ofOne, fc.record({ account, note })) }) },
  { weight: 5, arbitrary: fc.record({ call: call('unblock'), as, input: about(ofOne, fc.record({ account })) }) },
  { weight: 3, arbitrary: fc.record({ call: call('memberAdded', 'memberRemoved'), as: system, input: member }) },
  { weight: 1, arbitrary: fc.record({ call: call('findBlock'), as, input: about(ofOne, fc.record({ userId })) }) },
  { weight: 1, arbitrary: fc.record({ call: call('listBlocks'), as, input: about(ofOne, fc.record(page)) }) },
  {
    weight: 1,
    arbitrary: fc.record({ call: call('walkBlocks'), as: system, input: about(ofOne, fc.record({ limit })) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      call: call('filterBlocked'),
      as: system,
      input: about(ofSome, fc.record({ userIds: fc.array(userId) })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ call: call('refuseBlocked'), as: system, input: about(ofSome, fc.record({ userId })) }),
  },
)

const badgeStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ call: call('grant', 'grant', 'revoke'), as, input: fc.record({ userId, slugs }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ call: call('define', 'update'), as, input: fc.record({ slug: strangeSlug, description }) }),
  },
  { weight: 2, arbitrary: fc.record({ call: call('remove', 'remove', 'findBadge'), as, input: slug }) },
  { weight: 1, arbitrary: fc.record({ call: call('heldBy'), as, input: userId }) },
  { weight: 1, arbitrary: fc.record({ call: call('listBadges'), as, input: fc.record(page) }) },
)

const farewellStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ call: call('userDeleted'), as: system, input: userId }),
  fc.record({ call: call('organizationDeleted'), as: system, input: organizationId }),
  fc.record({ call: call('repositoryDeleted'), as: system, input: repositoryId }),
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
  input: { slug: one, description: undefined },
}))
