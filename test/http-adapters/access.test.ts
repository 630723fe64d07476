import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Fixture, Standalone } from '../../app/standalone/standalone.ts'
import { openStandalone } from '../../app/standalone/standalone.ts'
import type { SigningKeySource } from '../../src/index.ts'
import { RULES } from '../services.ts'
import { openWorld } from '../world.ts'
import type { RouteRule } from './access-rules.ts'
import { CALLERS, OWNERS, refusalOf } from './access-rules.ts'
import { dispatched } from './dispatch.ts'

// Every route, for every caller, on everything of every visibility: who may, who may not, and what those learn.

const FIXTURE: Fixture = {
  users: [...CALLERS.slice(2), 'eve'].map((username) => ({
    username,
    tokens: [`${username}-token`],
    siteAdmin: username === 'root',
    visibility: OWNERS.find(({ name }) => name === username)?.visibility ?? 'public',
  })),
  organizations: OWNERS.filter(({ kind }) => kind === 'organization').map(({ name, visibility }) => ({
    name,
    visibility,
    owners: ['owner'],
    members: ['member'],
    blocks: [{ user: 'blocked' }],
  })),
  // Issue 1 and pull request 2 are pinned and unpinned; issue 3 never is. Who has two roles has the higher.
  repositories: OWNERS.flatMap(({ name: owner, kind }) =>
    ['public', 'private'].map((name) => ({
      owner,
      name,
      private: name === 'private',
      admins: ['admin'],
      writers: ['writer', 'admin'],
      readers: kind === 'organization' ? ['reader', 'owner'] : ['reader'],
      issues: [1, 2, 3].map((index) => ({ index, title: `Number ${index}`, poster: 'root', pull: index === 2 })),
    })),
  ),
}
const KEY: SigningKeySource = {
  format: 'ssh',
  publicKey: () => ({ format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: '"1"' }),
}

let host: Standalone
beforeAll(async () => {
  host = await openStandalone({ db: ':memory:', fixture: FIXTURE, signingKey: KEY })
})
afterAll(() => host.close())

/** One cell of the table: a request, and what a caller learns who may not make it. */
interface Cell {
  readonly caller: (typeof CALLERS)[number]
  readonly method: string
  readonly path: string
  readonly refusal: string | undefined
}

/** What parameters can name besides owners, repositories and organizations: what is there, and what is not. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  owner: [...OWNERS.map(({ name }) => name), 'unknown-name'],
  org: [...OWNERS.map(({ name }) => name), 'unknown-name'],
  repo: ['public', 'private', 'nothing-of-that-name'],
  username: ['eve', 'unknown-name'],
  index: ['1', '99'],
  position: ['1', '0'],
}

/** Every cell of a route: each caller, each thing its path can name; HEAD beside GET. */
function cellsOf(method: string, template: string, rule: RouteRule): readonly Cell[] {
  let all: readonly Readonly<Record<string, string>>[] = [{}]
  for (const [, name = ''] of template.matchAll(/\{(\w+)\}/g)) {
    all = all.flatMap((names) => (VALUES[name] ?? []).map((value) => ({ ...names, [name]: value })))
  }
  return all.flatMap((names) => {
    const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => names[name] ?? '')
    const owner = OWNERS.find(({ name }) => name === (names['owner'] ?? names['org']))
    const repository = (['public', 'private'] as const).find((name) => name === names['repo'])
    return CALLERS.flatMap((caller) => {
      const refusal = refusalOf(rule, caller, { owner, repository })
      return (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((one) => ({ caller, method: one, path, refusal }))
    })
  })
}

/** What is answered: the status and the code of an error, and the whole reply. A body is not JSON: it is read last. */
async function ask({ caller, method, path }: Cell): Promise<{ readonly answer: string; readonly reply: string }> {
  const token = caller === 'invalid credential' ? 'token no-such-token' : `token ${caller}-token`
  const headers: Record<string, string> = caller === 'anonymous' ? {} : { authorization: token }
  const sent = { method, path, headers, body: method === 'GET' || method === 'HEAD' ? undefined : 'not JSON' }
  const reply = await dispatched(host.api, sent, (header) => host.authenticate(header))
  const code = method === 'HEAD' || reply.status < 400 ? '' : ` ${JSON.parse(reply.text).code}`
  return { answer: `${reply.status}${code}`, reply: JSON.stringify([reply.status, [...reply.headers], reply.text]) }
}

/** How many events there are: one for each change. */
async function changes(): Promise<number> {
  const { items } = await host.forge.events.list({}, { limit: 1 })
  return Number(items[0]?.id ?? 0) // in memory the ids are the numbers of the events
}

/** What is wrong with the answers to cells, a line for each; and each reply about what is hidden, once. */
async function look(cells: readonly Cell[]) {
  const wrong: string[] = []
  const hidden = new Set<string>()
  let before = await changes()
  for (const cell of cells) {
    const { answer, reply } = await ask(cell)
    const refusal = cell.method === 'HEAD' ? cell.refusal?.slice(0, 3) : cell.refusal
    const what = `${cell.method} ${cell.path} by ${cell.caller}: ${answer}`
    if (refusal === undefined ? REFUSAL.test(answer) : answer !== refusal) wrong.push(`${what}, not ${refusal}`)
    if (refusal !== undefined && (await changes()) !== before) wrong.push(`${what}, and something was changed`)
    if (HIDDEN.test(cell.refusal ?? '')) hidden.add(`${cell.method} ${reply}`)
    if (refusal === undefined) before = await changes()
  }
  return { wrong, hidden }
}
const HIDDEN = /^404 (?:REPOSITORY|ORGANIZATION)_NOT_FOUND$/
const REFUSAL = new RegExp(`^40[13]|${HIDDEN.source}`)

const { paths } = openWorld().api.openApi()
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { operationId }]) => ({ method: method.toUpperCase(), path, operationId })),
)
/** The cells of each route that has a rule. */
const table = operations.map(({ method, path, operationId }): readonly [string, readonly Cell[]] => {
  const rule = RULES[operationId]
  return [`${method} ${path}`, rule === undefined ? [] : cellsOf(method, path, rule)]
})

describe('the access table', () => {
  test('has a rule for every route, and no other, and a thousand cells', () => {
    const advice = 'each route has a rule in the file of its service in test/services/'
    expect(Object.keys(RULES).sort(), advice).toEqual(operations.map(({ operationId }) => operationId).sort())
    expect(table.flatMap(([, cells]) => cells).length).toBeGreaterThan(3000)
  })

  test.each(table)(
    'holds for %s, which answers for what is hidden as for what does not exist',
    async (route, cells) => {
      const { wrong, hidden } = await look(cells)

      expect(wrong).toEqual([])
      expect(hidden.size).toBeLessThanOrEqual(route.startsWith('GET') ? 2 : 1)
    },
  )
})
