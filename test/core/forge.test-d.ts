import { describe, expectTypeOf, test } from 'vitest'
import type {
  Actor,
  Forge,
  ForgeErrorCode,
  Grant,
  Id,
  IdInput,
  ObservedOperation,
  ObservedRequest,
  Pin,
  Policy,
} from '../../src/index.ts'
import { createForge, pinIssue, rolePolicy } from '../../src/index.ts'
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

describe('createForge', () => {
  test('takes the actor from the policy and the transaction from the storage', () => {
    expectTypeOf(createForge({ storage, policy, membership })).toEqualTypeOf<Forge<Account, Handle>>()
  })

  test('gives the ports the actor and the transaction of the host', () => {
    createForge({
      storage,
      policy: rolePolicy<Account, Handle>({
        isSiteAdmin: (actor) => actor.admin,
        repositoryRole(_repositoryId, context) {
          expectTypeOf(context.transaction).toEqualTypeOf<Handle | undefined>()
          expectTypeOf(context.actor).toEqualTypeOf<Account | 'anonymous'>()
          return 'admin'
        },
        organizationRole: () => 'none',
      }),
      membership,
      beforeCommit(events, transaction) {
        expectTypeOf(transaction).toEqualTypeOf<Handle>()
        expectTypeOf(events[0]?.actorId).toEqualTypeOf<Id | null | undefined>()
      },
    })
  })

  test('reports to an observer of the storage how each operation ended', () => {
    createForge({
      storage,
      policy,
      membership,
      observer: {
        operation(operation) {
          expectTypeOf(operation).toEqualTypeOf<ObservedOperation>()
          expectTypeOf(operation.milliseconds).toEqualTypeOf<number>()
          expectTypeOf(operation.outcome).toEqualTypeOf<'done' | 'refused' | 'aborted' | 'failed'>()
          expectTypeOf(operation.code).toEqualTypeOf<ForgeErrorCode | undefined>()
        },
        request(request) {
          expectTypeOf(request).toEqualTypeOf<ObservedRequest>()
        },
      },
    })
    // @ts-expect-error an observer has operation or request
    createForge({ storage, policy, membership, observer: console })
    // @ts-expect-error an observer is an object
    createForge({ storage, policy, membership, observer: () => undefined })
  })

  test('refuses a policy for other actors', () => {
    const other: Policy<Actor & { readonly robot: true }, Handle> = { authorize: () => ({ allow: true }) }
    const forge = createForge({ storage, policy: other, membership })
    // @ts-expect-error an account is no robot
    void forge.pins.unpin(account, { id: 1, repositoryId: 1, kind: 'issue' })
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

describe('the rules', () => {
  test('work on plain values of any kind', () => {
    expectTypeOf(pinIssue([1, 2], 3, 3).state).toEqualTypeOf<readonly number[]>()
    // @ts-expect-error a board holds one kind of value
    pinIssue([1, 2], 'three', 3)
  })
})
