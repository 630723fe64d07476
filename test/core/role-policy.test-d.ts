import { describe, expectTypeOf, test } from 'vitest'
import type { Actor, Id, Policy, RepositoryRole } from '../../src/index.ts'
import { createForge, rolePolicy } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'

interface User extends Actor {
  readonly id: number
  readonly admin: boolean
  readonly teams: ReadonlyMap<Id, RepositoryRole>
}

declare const storage: ForgeStorage<{ readonly handle: true }>
declare function roleIn(id: Id, user: User): Promise<RepositoryRole>
const membership = { isMember: () => false }
const others = { isSiteAdmin: () => false, repositoryRole: () => 'none', organizationRole: () => 'none' } as const

describe('rolePolicy<User> needs no annotation', () => {
  test('for arrow functions, whose roles are literals, and promises of them', () => {
    const forge = createForge({
      storage,
      policy: rolePolicy<User>({
        isSiteAdmin: async (actor) => actor.admin,
        repositoryRole: (id, { actor }) => {
          expectTypeOf(id).toEqualTypeOf<Id>()
          if (actor === 'anonymous') return 'reader'
          return actor.teams.get(id) ?? roleIn(id, actor)
        },
        organizationRole: async (_id, { actor }) => {
          if (actor === 'anonymous') return 'none'
          return actor.admin ? 'owner' : 'stranger'
        },
      }),
      membership,
    })

    expectTypeOf(forge.pins.pin).parameter(0).toEqualTypeOf<User | 'anonymous' | 'system'>()
    // @ts-expect-error TypeScript widens the result of an async function that only ever returns one and the same literal
    rolePolicy<User>({ ...others, organizationRole: async () => 'stranger' })
  })
})

test('rolePolicy<User> refuses what a user does not have, unknown roles, and two of the three functions', () => {
  // @ts-expect-error there is no such property
  rolePolicy<User>({ ...others, isSiteAdmin: (actor) => actor.isAdmin })
  // @ts-expect-error the actor may be 'anonymous', who has no teams
  rolePolicy<User>({ ...others, repositoryRole: (id, { actor }) => actor.teams.get(id) ?? 'none' })
  // @ts-expect-error the user is not named, and Actor has only an id
  rolePolicy({ ...others, isSiteAdmin: (actor) => actor.admin })
  // @ts-expect-error the role of an organization
  rolePolicy<User>({ ...others, repositoryRole: () => 'owner' })
  // @ts-expect-error the role of a repository
  rolePolicy<User>({ ...others, organizationRole: async () => 'admin' })
  // @ts-expect-error a missing role conceals nothing
  rolePolicy<User>({ ...others, repositoryRole: () => undefined })
  // @ts-expect-error a text is neither true nor false
  rolePolicy<User>({ ...others, isSiteAdmin: () => 'yes' })
  // @ts-expect-error organizationRole is missing
  rolePolicy<User>({ isSiteAdmin: () => false, repositoryRole: () => 'none' })
})

describe('a policy of the host itself', () => {
  test('narrows the request by its action', () => {
    const policy: Policy<User> = {
      authorize(request, { actor }) {
        switch (request.action) {
          case 'pins.write':
            expectTypeOf(request.repositoryId).toEqualTypeOf<Id>()
            return { allow: actor !== 'anonymous' && actor.admin, reason: 'not an admin' }
          case 'blocks.write':
            expectTypeOf(request.organizationId).toEqualTypeOf<Id>()
            return { allow: false, reason: 'not an owner', conceal: true }
          case 'badges.grant':
            expectTypeOf(request.userId).toEqualTypeOf<Id | undefined>()
            return { allow: true }
          default:
            return { allow: false, reason: `${request.action} is not allowed` }
        }
      },
    }

    expectTypeOf(createForge({ storage, policy, membership }).pins.pin).parameter(0).toExtend<User | string>()
  })
})
