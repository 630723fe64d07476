import { describe, expectTypeOf, test } from 'vitest'
import type { Actor, Forge, Pin, Policy, ServiceName, Sync, TransactionServices } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'

interface Account extends Actor {
  readonly id: number
}
interface Handle {
  readonly handle: true
}

declare const storage: ForgeStorage<Handle>
declare const policy: Policy<Account, Handle>
declare const account: Account
declare const handle: Handle
const membership = { isMember: () => false }
const issue = { id: 1, repositoryId: 10, kind: 'issue' } as const

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

  test('takes the other ports all the same', () => {
    createForge({ storage, policy, membership, services: ['pins'] })
    createForge({ storage, policy, membership: undefined, services: ['pins'] })
    createForge({
      storage,
      policy,
      membership: {
        isMember(member, context) {
          expectTypeOf(member.userId).toEqualTypeOf<string>()
          expectTypeOf(context.actor).toEqualTypeOf<Account | 'anonymous' | 'system'>()
          return false
        },
      },
      services: ['blocks'],
    })
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

  test('has the same services in a transaction', () => {
    void forge.withTransaction(handle, async (inside) => {
      expectTypeOf(inside).toEqualTypeOf<TransactionServices<Account, 'pins' | 'signing-keys'>>()
      // @ts-expect-error it was not chosen
      void inside.blocks
    })
    const { value } = forge.withTransactionSync(handle, (inside) => {
      expectTypeOf(inside).toEqualTypeOf<Sync<TransactionServices<Account, 'pins' | 'signing-keys'>>>()
      // @ts-expect-error it was not chosen
      void inside.badges
      return inside.pins.pin(account, issue)
    })
    expectTypeOf(value).toEqualTypeOf<Pin>()
  })
})

test('a forge has every service by default', () => {
  const forge = createForge({ storage, policy, membership })

  expectTypeOf(forge).toEqualTypeOf<Forge<Account, Handle>>()
  expectTypeOf(forge.services).toEqualTypeOf<readonly ServiceName[]>()
})
