import { beforeAll, describe, expect, it } from 'vitest'
import published from '../../schema/openapi.json' with { type: 'json' }
import type { OpenApiDocument } from '../../src/http-adapters/http.ts'
import { routeTable } from '../../src/http-adapters/routes/route-table.ts'
import { ForgeError } from '../../src/index.ts'
import type { Reply } from '../http.ts'
import { cases } from '../services.ts'
import type { Person, WorldOptions } from '../world.ts'
import { authenticate, openCase, openpgpKey, sshKey } from '../world.ts'
import type { Case } from './cases/case.ts'
import { declaredBy, operationIdOf } from './declared-replies.ts'
import { dispatched, pathTo } from './dispatch.ts'
import type { Send, Sent } from './run-case.ts'
import { runCase } from './run-case.ts'

// The specification of the wire, case by case, over dispatch; what is in between, no adapter changes: frameworks.test.ts. The
// same cases on forgelet serve: wire.servers.test.ts.
//
// schema/openapi.json is written by hand. It has the routes of the table, and declares what they take and answer: no less, as each
// reply is held against it, and no more, as each of its parameters is sent and each of its replies is received.

const document: OpenApiDocument = published
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
)

interface Parameter {
  readonly name: string
  readonly in: string
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: { readonly allOf?: readonly object[] } }>>
}

/** A part of the document, or what it refers to. */
function resolved<T>(part: object): T {
  const { $ref = '' } = part as { readonly $ref?: string }
  const [, , kind = '', name = ''] = $ref.split('/')
  const components: Readonly<Record<string, Readonly<Record<string, object>>>> = document.components
  return (components[kind]?.[name] ?? part) as T
}

function parametersOf({ parameters = [] }: (typeof operations)[number], place: string): readonly string[] {
  return parameters
    .map((one) => resolved<Parameter>(one))
    .filter((one) => one.in === place)
    .map(({ name }) => name)
}

/** The operation's declared replies: its id, a status, and each code that an error can have there. */
function repliesOf({ operationId, responses }: (typeof operations)[number]): readonly string[] {
  return Object.entries(responses).flatMap(([status, response]) => {
    const { content = {} } = resolved<Response>(response)
    const codes = Object.values(content).flatMap(({ schema }) => codesIn(schema))
    return codes.length === 0 ? `${operationId} ${status}` : codes.map((code) => `${operationId} ${status} ${code}`)
  })
}

function codesIn({ allOf = [] }: { readonly allOf?: readonly object[] }): readonly string[] {
  return allOf.flatMap((part) => {
    const { properties } = part as { readonly properties?: { readonly code?: { readonly enum?: readonly string[] } } }
    return properties?.code?.enum ?? []
  })
}

/** What operations were sent and answered, each as a text that begins with the id of the operation. */
const seen = { replies: new Set<string>(), query: new Set<string>() }

/** Sends requests, holds each reply against the document, and notes it. */
function noted(send: Send): Send {
  const declared = declaredBy(document, send)
  return async (sent) => {
    const reply = await declared(sent)
    const id = operationIdOf(document, sent.method, sent.path)
    if (id === undefined || sent.method === 'HEAD') return reply

    seen.replies.add([id, reply.status, ...(reply.status < 400 ? [] : [JSON.parse(reply.text).code])].join(' '))
    for (const name of new URLSearchParams(sent.path.split('?')[1]).keys()) seen.query.add(`${id} ${name}`)
    return reply
  }
}

/** A request of the site admin to each operation, with names that are there, but for what is changed. */
interface Probe {
  readonly world?: WorldOptions
  readonly names?: Readonly<Record<string, string>>
  readonly headers?: Sent['headers']
  readonly authenticate?: () => Person | null
}

const failing = (error: Error): Probe => ({
  authenticate: () => {
    throw error
  },
})
const policy = { authorize: () => ({ allow: false, reason: 'not today' }) } as const

/** What any route can meet. What one route alone can meet is in the wire cases. */
const PROBES: readonly Probe[] = [
  failing(new Error('boom')),
  failing(new ForgeError('STORAGE_BUSY', '', { retry: 'call' })),
  failing(new ForgeError('STORAGE_UNAVAILABLE', '', { outcome: 'unknown' })),
  failing(new ForgeError('SCHEMA_OUTDATED', '', { found: 1, needed: 2 })),
  failing(new ForgeError('SCHEMA_TOO_NEW', '', { found: 3, oldestLibrary: 2 })),
  { headers: { authorization: 'token nobody' } },
  { headers: { origin: 'https://evil.example.com' } },
  { headers: { authorization: 'token root', sudo: 'mia' } },
  { world: { policy } },
  { world: { policy }, headers: {} },
  { world: { limits: { maxBodyBytes: 1, maxImportBytes: 1 } } },
  ...[sshKey, openpgpKey].map((signingKey) => ({
    world: { signingKey },
    headers: { authorization: 'token root', 'if-none-match': '*' },
  })),
  ...['owner', 'repo', 'index', 'position', 'org', 'username'].flatMap((name) =>
    ['nothing', '%zz'].map((text) => ({ names: { [name]: text } })),
  ),
]

/** Declared replies that take work in progress: test/http-adapters/routes/exchange-routes.test.ts. */
const ELSEWHERE = ['repoExportIssues 503 EXCHANGE_BUSY', 'repoImportIssues 503 EXCHANGE_BUSY']

/** Query parameters of the cases that mean nothing to the operation. */
const UNKNOWN = [
  'organizationBlockUser notes',
  'organizationBlockUser page',
  'organizationListBlocks access_token',
  'organizationListBlocks q',
  'organizationListBlocks token',
  'pinIssue page',
  'pinIssue sudo',
  'repoListPinnedIssues q',
  'repoListPinnedIssues sudo',
]

/** Runs a case in a world of its own. Gives every reply, which must be the same where the ports answer later. */
async function run(given: Case, later: boolean): Promise<readonly Reply[]> {
  const world = await openCase({ ...given.world, later })
  const replies: Reply[] = []
  const send = noted((sent) => dispatched(world.api, sent, authenticate))
  await runCase(given, async (sent) => {
    const reply = await send(sent)
    replies.push(reply)
    return reply
  })
  return replies
}

describe.each(Object.entries(cases))('%s', (_section, list) => {
  it.each(list)('$fact', async (given) => {
    expect(await run(given, true)).toEqual(await run(given, false))
  })
})

it('the cases state every fact once', () => {
  const facts = Object.values(cases).flatMap((list) => list.map((one) => one.fact))

  expect(facts.filter((fact, index) => facts.indexOf(fact) !== index)).toEqual([])
})

describe('the published OpenAPI document, to which the cases were held above,', () => {
  beforeAll(async () => {
    for (const probe of PROBES) {
      const { names, headers = { authorization: 'token root' } } = probe
      for (const { method, path } of operations) {
        const world = await openCase(probe.world)
        const send = noted((sent) => dispatched(world.api, sent, probe.authenticate ?? authenticate))
        await send({ method, path: pathTo(path, names), headers, body: method === 'GET' ? undefined : '[]' })
      }
    }
  })

  it('has an operation for every row of the route table, by its own id, and no other', () => {
    const rows = routeTable.map(({ method, path, operationId, service }) => [method, path, operationId, [service]])
    const written = operations.map(({ method, path, operationId, tags }) => [method, path, operationId, tags])

    expect(written, 'schema/openapi.json has the operations of route-table.ts, in its order').toEqual(rows)
  })

  it('declares the replies that the routes give, and no other', () => {
    const declared = operations.flatMap(repliesOf)

    const advice = 'each declared reply is received in a case of test/services/, or in a world of PROBES'
    expect(
      declared.filter((reply) => !seen.replies.has(reply)),
      advice,
    ).toEqual(ELSEWHERE)
    expect([...seen.replies].filter((reply) => !declared.includes(reply))).toEqual([])
  })

  it('declares the parameters of each path', () => {
    for (const operation of operations) {
      expect(parametersOf(operation, 'path')).toEqual(
        [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      )
    }
  })

  it('declares the parameters of queries that are sent, and no other', () => {
    const declared = operations.flatMap((operation) =>
      parametersOf(operation, 'query').map((name) => `${operation.operationId} ${name}`),
    )

    expect([...seen.query].sort()).toEqual([...declared, ...UNKNOWN].sort())
  })

  it.each<[what: string, reply: string, isDeclared: (operation: (typeof operations)[number]) => boolean]>([
    ['If-None-Match', '304', (operation) => parametersOf(operation, 'header').includes('If-None-Match')],
    ['a body', '413 BODY_TOO_LARGE', ({ requestBody }) => requestBody !== undefined],
  ])('declares %s where a route reads it', (_what, reply, isDeclared) => {
    const reading = operations.filter(({ operationId }) => seen.replies.has(`${operationId} ${reply}`))

    expect(operations.filter(isDeclared)).toEqual(reading)
  })
})
