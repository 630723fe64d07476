import { describe, expect, onTestFinished, test } from 'vitest'
import { issueFor, repositoryFor } from '../../../src/http-adapters/routes/path-inputs.ts'
import type { Input, Route } from '../../../src/http-adapters/routes/route.ts'
import { routeTable } from '../../../src/http-adapters/routes/route-table.ts'
import type { Policy } from '../../../src/index.ts'
import { isForgeError } from '../../../src/index.ts'
import type { StandaloneUser } from '../../../src/standalone/host-ports.ts'
import type { Cell } from './access-cells.ts'
import { cellsOf, mismatches, ruleOf } from './access-cells.ts'
import { RULES } from './access-rules.ts'
import type { AccessWorld, Plant } from './access-world.ts'
import { openAccessWorld } from './access-world.ts'

// Every route, for every caller, on everything of every visibility: who may, who may not, and what those learn.

const routes = routeTable.map((route) => [`${route.method} ${route.path}`, route] as const)
const table = routeTable.flatMap(cellsOf)

/** The first line of what is wrong; undefined when nothing is. */
async function firstMismatch(world: AccessWorld, cells: readonly Cell[]): Promise<string | undefined> {
  for await (const line of mismatches(world, cells)) return line
  return undefined
}

describe('the access table', () => {
  test('has a rule for every route, and no other', () => {
    expect(Object.keys(RULES).sort()).toEqual(routeTable.map(({ operationId }) => operationId).sort())
    expect(() => ruleOf({ operationId: 'mergeEverything' })).toThrow('has no rule for mergeEverything')
  })

  test('has thousands of cells, none twice', () => {
    expect(table.length).toBeGreaterThan(5000)
    expect(new Set(table.map(({ caller, method, path, body }) => [caller, method, path, body].join('|'))).size).toBe(
      table.length,
    )
  })

  test.each(routes)('holds for %s', async (_name, route) => {
    const found: string[] = []
    for await (const line of mismatches(await openAccessWorld(), cellsOf(route))) found.push(line)

    expect(found).toEqual([])
  })

  test.each(routes)('answers %s for what is hidden as for what does not exist', async (_name, route) => {
    const world = await openAccessWorld()
    const hidden = cellsOf(route).filter(({ answer }) => /^404 (?:REPOSITORY|ORGANIZATION)_NOT_FOUND$/.test(answer))
    const replies = new Map<string, string>()
    for (const cell of hidden) {
      const name = cell.method === 'HEAD' ? 'HEAD' : 'GET'
      const reply = JSON.stringify(await world.ask(cell))
      expect(reply).toBe(replies.get(name) ?? reply) // the same as for what is not there at all
      replies.set(name, reply)
    }
  })
})

/** A policy that differs from the sound one in what it decides. */
function deciding(
  decide: (
    sound: Awaited<ReturnType<Policy<StandaloneUser>['authorize']>>,
    ...asked: Parameters<Policy<StandaloneUser>['authorize']>
  ) => Awaited<ReturnType<Policy<StandaloneUser>['authorize']>>,
): Plant {
  return {
    policy: (sound) => ({
      authorize: async (request, context) => decide(await sound.authorize(request, context), request, context),
    }),
  }
}

const nameOf = (actor: StandaloneUser | 'anonymous'): string => (actor === 'anonymous' ? actor : actor.username)
const ALLOWED = { allow: true } as const

const HOSTS_WITH_A_MISTAKE: readonly (readonly [mistake: string, Plant])[] = [
  ['allows everything', deciding(() => ALLOWED)],
  ['refuses everything', deciding(() => ({ allow: false, reason: 'no' }))],
  ['allows whatever it should conceal', deciding((sound) => (!sound.allow && sound.conceal ? ALLOWED : sound))],
  ['allows whatever it should refuse', deciding((sound) => (!sound.allow && !sound.conceal ? ALLOWED : sound))],
  ['refuses what it should conceal', deciding((sound) => (sound.allow ? sound : { ...sound, conceal: false }))],
  ['conceals what it should refuse', deciding((sound) => (sound.allow ? sound : { ...sound, conceal: true }))],
  [
    'conceals only from the signed-in',
    deciding((sound, _request, { actor }) =>
      sound.allow ? sound : { ...sound, conceal: sound.conceal && actor !== 'anonymous' },
    ),
  ],
  ...(
    [
      ['lets writers pin', 'pins.write', 'writer'],
      ['lets readers pin', 'pins.write', 'reader'],
      ['lets members pin', 'pins.write', 'member'],
      ['lets members see blocks', 'blocks.read', 'member'],
      ['lets members block', 'blocks.write', 'member'],
      ['lets admins of a repository block', 'blocks.write', 'admin'],
      ['lets owners see badges', 'badges.read', 'owner'],
      ['lets owners grant badges', 'badges.grant', 'owner'],
      ['lets strangers see pins', 'pins.read', 'stranger'],
      ['lets the blocked see pins', 'pins.read', 'blocked'],
      ['lets anonymous callers see pins', 'pins.read', 'anonymous'],
      ['lets anonymous callers see keys', 'signing-keys.read', 'anonymous'],
      ['lets anonymous callers pin', 'pins.write', 'anonymous'],
      ['lets anonymous callers see badges', 'badges.read', 'anonymous'],
    ] as const
  ).map(
    ([mistake, action, name]) =>
      [
        mistake,
        deciding((sound, request, { actor }) =>
          request.action === action && nameOf(actor) === name ? ALLOWED : sound,
        ),
      ] as const,
  ),
  ...(['root', 'owner', 'admin', 'reader', 'member', 'una', 'pam', 'anonymous'] as const).map(
    (name) =>
      [
        `refuses ${name}`,
        deciding((sound, _request, { actor }) =>
          nameOf(actor) === name ? { allow: false, reason: 'no', conceal: !sound.allow && sound.conceal } : sound,
        ),
      ] as const,
  ),
  [
    'takes a wrong credential for none',
    {
      authenticate: (sound) => async (header) => {
        try {
          return await sound(header)
        } catch (error) {
          if (isForgeError(error, 'INVALID_CREDENTIALS')) return null
          throw error
        }
      },
    },
  ],
  ['takes every caller for an anonymous one', { authenticate: () => () => null }],
  ['takes every caller for the site admin', { authenticate: (sound) => () => sound('token root-token') }],
  [
    'takes those without a credential for a user',
    { authenticate: (sound) => (header) => sound(header ?? 'token stranger-token') },
  ],
  [
    "finds another owner's repository",
    {
      directory: (sound) => ({
        ...sound,
        findRepository: (_owner, name, context) => sound.findRepository('open', name, context),
      }),
    },
  ],
  [
    'finds the same repository by every name',
    {
      directory: (sound) => ({
        ...sound,
        findRepository: (owner, _name, context) => sound.findRepository(owner, 'public', context),
      }),
    },
  ],
  [
    'finds another organization',
    {
      directory: (sound) => ({
        ...sound,
        findAccount: (name, context) => sound.findAccount(name === 'closed' ? 'open' : name, context),
      }),
    },
  ],
]

describe('the access table catches a host that', () => {
  test.each(HOSTS_WITH_A_MISTAKE)('%s', async (_mistake, plant) => {
    expect(await firstMismatch(await openAccessWorld(plant), table)).toBeDefined()
  })
})

/** Plants a mistake in the declaration of a route, until the test is finished. */
function replaceGuard(route: Route, replacement: (guard: Input<unknown>) => Input<unknown>['read']): void {
  const guard = Object.values(route.inputs).find(({ action }) => action !== undefined)
  if (guard === undefined) throw new TypeError(`${route.operationId} has no guard`)

  const { read } = guard
  onTestFinished(() => void Object.assign(guard, { read }))
  Object.assign(guard, { read: replacement({ ...guard }) })
}

const guarded = routes.filter(([, { inputs }]) => Object.values(inputs).some(({ action }) => action !== undefined))
const onRepositories = guarded.filter(([, { path }]) => path.startsWith('/repos/'))

describe('the access table catches a route that', () => {
  test.each(guarded)('does not ask the policy: %s', async (_name, route) => {
    replaceGuard(route, ({ read }) => (requestContext) => {
      const operations = Object.create(requestContext.operations, { authorize: { value: () => undefined } })
      return read({ ...requestContext, operations })
    })

    expect(await firstMismatch(await openAccessWorld(), cellsOf(route))).toBeDefined()
  })

  test.each(onRepositories)('takes reading for changing, or changing for reading: %s', async (_name, route) => {
    replaceGuard(route, ({ action }) => {
      const isChange = action?.endsWith('.write') === true || action === 'issues.import'
      const other = isChange ? 'pins.read' : 'pins.write'
      return (route.path.includes('{index}') ? issueFor(other) : repositoryFor(other)).read
    })

    expect(await firstMismatch(await openAccessWorld(), cellsOf(route))).toBeDefined()
  })

  test.each(guarded)('takes anonymous callers for the host itself: %s', async (_name, route) => {
    replaceGuard(route, ({ read }) => (requestContext) => {
      const actor = requestContext.actor === 'anonymous' ? 'system' : requestContext.actor
      return read({ ...requestContext, actor })
    })

    expect(await firstMismatch(await openAccessWorld(), cellsOf(route))).toBeDefined()
  })
})
