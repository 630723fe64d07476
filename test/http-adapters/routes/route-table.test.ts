import { expect, it } from 'vitest'
import { forgejoRoutes, routeTable } from '../../../src/http-adapters/routes/route-table.ts'
import { RULES } from '../../services.ts'
import { openWorld, people, sshKey } from '../../world.ts'
import type { RouteRule } from '../access-rules.ts'
import { pathTo, plainRequest, readText } from '../dispatch.ts'

/** What the policy is asked about, by the role that a route takes. No user for the badges: who may not call them learns no names. */
const SUBJECTS: Readonly<Record<RouteRule['needs'], object>> = {
  nothing: {},
  'the user': { userId: '1' },
  'repository reader': { repositoryId: '1' },
  'repository admin': { repositoryId: '1' },
  'organization owner': { organizationId: '6' },
  'site admin': { userId: undefined },
}

/** The operation of Gitea's paths that asks what each of Forgejo's asks. */
const FORGEJO: Readonly<Record<string, string>> = {
  orgListBlockedUsers: 'organizationListBlocks',
  orgBlockUser: 'organizationBlockUser',
  orgUnblockUser: 'organizationUnblockUser',
  userListBlockedUsers: 'userListBlocks',
  getSSHSigningKey: 'getSigningKeySSH',
}

it.each([...routeTable, ...forgejoRoutes].map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s asks the policy once for its action there, unless it is public',
  async (_place, { operationId, service, method, path }) => {
    const asked: object[] = []
    const { api } = openWorld({
      forgejoPaths: true,
      signingKey: sshKey,
      policy: {
        authorize(about) {
          asked.push(about)
          return { allow: true }
        },
      },
    })
    const body = service === 'badges' ? '{"badge_slugs":[]}' : '[]'
    const request = plainRequest({ method, path: pathTo(path), body })
    await readText(await api.dispatch(request, () => people[0] ?? null))

    const { asks, needs = 'nothing' } = RULES[FORGEJO[operationId] ?? operationId] ?? {}
    expect(asked).toEqual(asks === undefined ? [] : [{ action: asks, ...SUBJECTS[needs] }])
  },
)
