import { expect, it } from 'vitest'
import { issueDocuments } from '../../../src/exchange/exchange.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import { routeTable } from '../../../src/http-adapters/routes/route-table.ts'
import { createForge } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { Person } from '../../world.ts'
import { directory, people, present, sshKey, worldIssues } from '../../world.ts'
import { RULES } from '../cases.ts'
import { pathTo, plainRequest, readText } from '../dispatch.ts'

it.each(routeTable.map((route) => [route.operationId, route] as const))(
  '%s asks the policy once for its action, unless it is public',
  async (_id, route) => {
    const asked: string[] = []
    const forge = createForge<Person, undefined>({
      storage: memoryStorage(),
      policy: {
        authorize({ action }) {
          asked.push(action)
          return { allow: true }
        },
      },
      membership: { isMember: () => false },
      signingKey: sshKey,
      issues: worldIssues(),
    })
    const api = createApi(forge, { directory, present, documents: issueDocuments })
    const body = route.service === 'badges' ? '{"badge_slugs":[]}' : '[]'
    const reply = await api.dispatch(
      plainRequest({ method: route.method, path: pathTo(route.path), body }),
      () => people[0] ?? null,
    )
    await readText(reply)

    const { asks } = RULES[route.operationId] ?? {}
    expect(asked).toEqual([asks].filter((action) => action !== undefined))
  },
)
