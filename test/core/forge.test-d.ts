import { describe, expectTypeOf, test } from 'vitest'
import type {
  Actor,
  Block,
  Caller,
  CallOptions,
  Forge,
  Grant,
  Id,
  IdInput,
  OrganizationBlock,
  Pin,
  Policy,
  ServiceName,
  Services,
  UserBlock,
} from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'

interface Account extends Actor {
  readonly id: number
  readonly admin: boolean
}
interface Handle {
  readonly handle: true
}

declare const storage: ForgeStorage<Handle>
declare const handle: Handle
declare const account: Account
declare const policy: Policy<Account, Handle>
const membership = { isMember: () => false }
const issue = { id: 1, repositoryId: 10, kind: 'issue' } as const

describe('createForge', () => {
  test('takes the actor from the policy and the transaction from the storage', () => {
    const forge = createForge({ storage, policy, membership })
    expectTypeOf(forge).toEqualTypeOf<Forge<Account, Handle>>()
    expectTypeOf(forge.services).toEqualTypeOf<readonly ServiceName[]>()
  })
})

describe('a forge', () => {
  const forge = createForge({ storage, policy, membership })

  test('accepts its actors, anonymous and the host, and no one else', () => {
    const issue = { id: 1n, repositoryId: 'r', kind: 'pullRequest' } as const
    expectTypeOf(forge.pins.pin(account, issue)).toEqualTypeOf<Promise<Pin>>()
    expectTypeOf(forge.pins.pin('anonymous', issue)).toEqualTypeOf<Promise<Pin>>()
    expectTypeOf(forge.pins.pin('system', issue)).toEqualTypeOf<Promise<Pin>>()
    // @ts-expect-error a name is not an actor
    void forge.pins.pin('olga', issue)
    // @ts-expect-error there is no such kind
    void forge.pins.pin(account, { ...issue, kind: 'wiki' })
  })

  test('returns blocked users in the type of the ids that were given', () => {
    const organizationId = 5
    const [numbers, bigints, mixed]: [number[], bigint[], IdInput[]] = [[9], [9n], ['9', 9]]
    const { blocks } = forge
    expectTypeOf(blocks.filterBlocked({ organizationId, userIds: numbers })).toEqualTypeOf<
      Promise<ReadonlySet<number>>
    >()
    expectTypeOf(blocks.filterBlocked({ organizationId, userIds: bigints })).toEqualTypeOf<
      Promise<ReadonlySet<bigint>>
    >()
    expectTypeOf(blocks.filterBlocked({ organizationId, userIds: mixed })).toEqualTypeOf<
      Promise<ReadonlySet<IdInput>>
    >()
    const kind = 'issue' as const
    expectTypeOf(
      forge.pins.positions(
        account,
        numbers.map((id) => ({ id, repositoryId: '10', kind })),
      ),
    ).toEqualTypeOf<Promise<ReadonlyMap<number, number>>>()
    expectTypeOf(forge.badges.heldByMany(account, bigints)).toEqualTypeOf<
      Promise<ReadonlyMap<bigint, readonly Grant[]>>
    >()
    expectTypeOf(blocks.isBlocked({ organizationId, userId: 9 })).toEqualTypeOf<Promise<boolean>>()
  })

  test('answers at once inside withTransactionSync, and takes no promise as its work', () => {
    const result = forge.withTransactionSync(handle, (inner) => inner.badges.heldBy(account, 1))
    expectTypeOf(result.value).toEqualTypeOf<readonly Grant[]>()
    // @ts-expect-error work that takes time runs outside the transaction
    forge.withTransactionSync(handle, async () => 1)
    // @ts-expect-error the outbox is not read inside a transaction
    forge.withTransactionSync(handle, (inner) => inner.events)
    // @ts-expect-error this is no handle
    forge.withTransactionSync('handle', () => 1)
  })
})

describe('createForge with some services', () => {
  test('needs no port that only the others call', () => {
    createForge({ storage, policy, services: ['pins'] })
    createForge({ storage, policy, services: ['pins', 'badges', 'signing-keys'] })
    createForge({ storage, policy, services: [] })
  })

  test('needs the ports of those', () => {
    // @ts-expect-error blocks ask the membership
    createForge({ storage, policy, services: ['blocks'] })
    // @ts-expect-error blocks ask the membership
    createForge({ storage, policy, services: ['pins', 'blocks'] })
    // @ts-expect-error every service is there by default
    createForge({ storage, policy })
    // @ts-expect-error any service may be in the list
    createForge({ storage, policy, services: ['pins'] as readonly ServiceName[] })
    // @ts-expect-error the policy is always asked
    createForge({ storage, services: ['pins'] })
    createForge({ storage, policy, membership, services: ['blocks'] })
  })

  test('refuses a name that no service has', () => {
    // @ts-expect-error there is no wiki
    createForge({ storage, policy, membership, services: ['pins', 'wiki'] })
    // @ts-expect-error this is the property; the name is signing-keys
    createForge({ storage, policy, membership, services: ['signingKeys'] })
  })
})

describe('a forge with some services', () => {
  const forge = createForge({ storage, policy, services: ['pins', 'signing-keys'] })

  test('has those, the lifecycle and the events', () => {
    expectTypeOf(forge).toEqualTypeOf<Forge<Account, Handle, 'pins' | 'signing-keys'>>()
    expectTypeOf(forge.services).toEqualTypeOf<readonly ('pins' | 'signing-keys')[]>()
    expectTypeOf(forge.pins.pin(account, issue)).toEqualTypeOf<Promise<Pin>>()
    void forge.signingKeys.publicKey
    void forge.lifecycle.issueDeleted
    void forge.events.read
    void forge.authorize
  })

  test('does not have the others', () => {
    // @ts-expect-error it was not chosen
    void forge.blocks
    // @ts-expect-error it was not chosen
    void forge.badges
    expectTypeOf(forge).not.toExtend<Forge<Account, Handle>>()
  })
})

/** The methods of `T` whose arguments are not `(caller, input, options?)`. */
type Deviating<T> = {
  [K in keyof T]: T[K] extends (...args: infer P) => Promise<unknown> ? (HasShape<P> extends true ? never : K) : never
}[keyof T]

type HasShape<P extends readonly unknown[]> =
  Required<P> extends readonly [Caller<Actor>, unknown, infer Options]
    ? [CallOptions | undefined] extends [Options | undefined]
      ? [Caller<Actor>] extends [P[0]]
        ? true
        : false
      : false
    : false

type All = Services<Actor>

/** The services whose methods all ask the policy. */
type Asking = Omit<All, 'blocks' | 'lifecycle' | 'events'>

test('a service method takes (caller, input, options?)', () => {
  expectTypeOf<{ [S in keyof Asking]: Deviating<Asking[S]> }[keyof Asking]>().toEqualTypeOf<never>()
  expectTypeOf<Deviating<All['badges']['catalogue']>>().toEqualTypeOf<never>()
  expectTypeOf<Deviating<Pick<Forge, 'authorize'>>>().toEqualTypeOf<never>()
})

test('a method that never asks the policy has no caller', () => {
  expectTypeOf<Deviating<All['blocks']>>().toEqualTypeOf<'isBlocked' | 'refuseBlocked' | 'filterBlocked'>()
  expectTypeOf<Deviating<All['lifecycle']>>().toEqualTypeOf<keyof All['lifecycle']>()
  expectTypeOf<Deviating<All['events']>>().toEqualTypeOf<Exclude<keyof All['events'], 'on'>>()
})

test('who blocks is an organization or a user, and a block has one of the two', () => {
  const { blocks } = {} as Forge
  const account = { kind: 'user', id: 9 } as const
  expectTypeOf(blocks.block).toBeCallableWith('system', { organizationId: 5, account, note: 'spam' })
  expectTypeOf(blocks.block).toBeCallableWith('system', { blockerId: 5, account })
  expectTypeOf(blocks.isBlocked).toBeCallableWith({ organizationId: null, blockerId: 5, userId: 9 })
  expectTypeOf<Awaited<ReturnType<typeof blocks.block>>>().toEqualTypeOf<Block>()
  expectTypeOf<Extract<Block, { organizationId: Id }>>().toEqualTypeOf<OrganizationBlock>()
  expectTypeOf<Extract<Block, { blockerId: Id }>>().toEqualTypeOf<UserBlock>()
  // @ts-expect-error not both
  expectTypeOf(blocks.list).toBeCallableWith('system', { organizationId: 5, blockerId: 5 })
  // @ts-expect-error one of them
  expectTypeOf(blocks.find).toBeCallableWith('system', { userId: 9 })
  // @ts-expect-error there is no such property
  void (() => blocks.block('system', { organizationId: 5, account, reason: 'spam' }))
})
