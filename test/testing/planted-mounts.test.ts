import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { nodeHandler } from '../../src/http-adapters/node.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import type { ContractCase, KnownHost } from '../../src/testing/testing.ts'
import { mountContract } from '../../src/testing/testing.ts'
import { listening } from '../http.ts'
import { HOST_HEADERS, setHostHeaders } from '../http-adapters/hosts.ts'
import type { Person } from '../world.ts'
import { authenticate } from '../world.ts'
import { openKnownWorld } from './known-world.ts'
import type { PlantedMount } from './mounts/planted-mount.ts'
import { PLANTED_MOUNTS } from './mounts/planted-mounts.ts'

// Every fault is caught by the contract, so that the contract cannot come to prove nothing.

const PREFIX = '/a/b'
const elsewhere = [`${PREFIX}?x=1&y=%2F`, `${PREFIX}/users/stan?x=1`].map((path) => ({
  path,
  text: `the host: ${path}`,
}))

/** A case of the contract over a mounting, and what it is served by. */
async function caseOver(plant: PlantedMount['plant'], name: string, hangs: () => void): Promise<ContractCase> {
  const { world, known } = openKnownWorld({
    limits: { maxBodyBytes: 50_000, maxImportBytes: 400_000 },
    publicUrl: 'https://git.example.com/api/v1',
  })
  const api = nodeHandler<Person, IncomingMessage>(world.api, {
    authenticate: ({ headers }) => authenticate(headers.authorization),
    basePath: PREFIX,
  })
  const listener = plant({
    world,
    hangs,
    handle: (request, response) => api(request, response, () => response.end(`the host: ${request.url}`)),
  })
  const server = await listening(
    createServer((request, response) => {
      setHostHeaders(response)
      listener(request, response)
    }),
  )
  onTestFinished(() => server.stop())

  const start = async () => ({ origin: server.origin, prefix: PREFIX, stop: async () => undefined })
  const found = mountContract(start, { ...known, headers: HOST_HEADERS, elsewhere }).find((one) => one.name === name)
  if (found === undefined) throw new TypeError(`no case is named ${name}`)
  return found
}

describe('the contract', () => {
  for (const { fault, caughtBy, plant } of PLANTED_MOUNTS) {
    test(`catches a mounting that ${fault}`, async () => {
      // The time of a case is over as soon as it is known that it waits in vain.
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      const { run } = await caseOver(plant, caughtBy, () => setImmediate(() => vi.advanceTimersByTime(10_000)))

      const failure = await run().catch((error: unknown) => error)
      expect(failure).toMatchObject({ name: 'AssertionError', message: expect.stringMatching(/^sent: .*fix: /s) })
    })
  }

  for (const name of new Set(PLANTED_MOUNTS.map(({ caughtBy }) => caughtBy))) {
    test(`lets a sound mounting pass where it says: ${name}`, async () => {
      const { run } = await caseOver(
        ({ handle }) => handle,
        name,
        () => undefined,
      )

      await run()
    })
  }
})

describe('a case', () => {
  const [first] = mountContract(async () => ({ origin, prefix: PREFIX, stop }))
  let origin = ''
  let stops = 0
  const stop = async (): Promise<void> => {
    stops += 1
  }

  test('reports that no server listens, and stops what was started', async () => {
    const gone = await listening(createServer())
    await gone.stop()
    origin = gone.origin
    stops = 0

    await expect(first?.run()).rejects.toThrow(/^sent: .*received: no connection: .*ECONNREFUSED.*fix: /s)
    expect(stops).toBe(1)
  })

  test('reports an invalid address, and stops what was started', async () => {
    origin = 'https://127.0.0.1:1'
    stops = 0

    await expect(first?.run()).rejects.toThrow(TypeError)
    expect(stops).toBe(1)
  })
})

describe('the list of cases', () => {
  const start = () => Promise.reject(new Error('no case of this list is run'))
  const names = (known: KnownHost): readonly string[] => mountContract(start, known).map(({ name }) => name)
  const { known } = openKnownWorld({
    limits: { maxImportBytes: 400_000 },
    publicUrl: 'https://git.example.com/api/v1',
  })
  const all = names({ ...known, headers: HOST_HEADERS, elsewhere })

  test('has no name twice', () => {
    expect(new Set(all).size).toBe(all.length)
  })

  test('needs nothing from the host', () => {
    expect(names({}).length).toBeGreaterThan(30)
  })

  test.each([
    'authorization',
    'organization',
    'users',
    'repository',
    'publicUrl',
    'maxImportBytes',
    'failing',
    'waiting',
  ] as const)('leaves out what needs %s if that is missing, and nothing else', (part) => {
    const left = names({ ...known, headers: HOST_HEADERS, elsewhere, [part]: undefined })

    expect(left.length).toBeLessThan(all.length)
    expect(left.filter((name) => !all.includes(name))).toEqual([])
  })

  test('has no case about other sites where the host allows them', () => {
    expect(names({ crossSite: 'allow' }).filter((name) => name.includes('403'))).toEqual([])
  })

  test('asks only the services that are mounted', () => {
    expect(names({ ...known, services: ['pins'] }).filter((name) => name.includes('query is decoded'))).toEqual([])
    expect(names({ ...known, services: ['signing-keys'] }).filter((name) => name.includes('403'))).toEqual([])
  })

  test('is refused to a host without services', () => {
    expect(() => names({ services: [] })).toThrow(new TypeError('services must name at least one mounted service'))
  })
})

describe('the contract names the users as the fault, not the mounting, where they', () => {
  const fixture = {
    users: [{ username: 'root', siteAdmin: true, tokens: ['root-token'] }, { username: 'mia' }, { username: 'sam' }],
    organizations: [{ name: 'acme', members: ['mia'], blocks: [] }],
  }

  test.each([
    ['are the administrator', ['root', 'sam'], 'CANNOT_BLOCK_SELF'],
    ['are members', ['mia', 'sam'], 'CANNOT_BLOCK_MEMBER'],
    ['are the same user', ['sam', 'sam'], 'ALREADY_BLOCKED'],
  ] as const)('%s', async (_, users, code) => {
    const { api, authenticate, close } = await openStandalone({ db: ':memory:', fixture })
    const server = await listening(
      createServer(nodeHandler(api, { authenticate: ({ headers }) => authenticate(headers.authorization) })),
    )
    onTestFinished(async () => {
      await server.stop()
      await close()
    })
    const start = async () => ({ origin: server.origin, prefix: '', stop: async () => undefined })
    const known: KnownHost = { authorization: 'token root-token', organization: 'acme', users }
    const cases = mountContract(start, known).filter(({ name }) => /^links do not contain|^%2B in a query/.test(name))
    const failures: unknown[] = []
    for (const { run } of cases) failures.push(await run().catch((error: unknown) => String(error)))

    expect(cases).toHaveLength(2)
    const messages = failures.filter((failure) => failure !== undefined)
    expect(messages.length).toBeGreaterThan(0)
    for (const failure of messages) {
      expect(failure).toContain(code)
      expect(failure).toMatch(
        /fix: {6}name as users two who are not members of the organization, not blocked there, and not/,
      )
    }
  })
})
