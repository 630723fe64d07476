import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Fixture, Standalone } from '../../app/standalone/standalone.ts'
import { openStandalone } from '../../app/standalone/standalone.ts'
import type { SigningKeySource } from '../../src/index.ts'
import { RULES } from '../services.ts'
import { openWorld } from '../world.ts'
import type { Answer, RouteRule, Subject } from './access-rules.ts'
import { CALLERS, expected, OWNERS } from './access-rules.ts'
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

/** One cell of the table: what a caller asks, and what is answered. */
interface Cell extends Sent {
  readonly answer: Answer
}

interface Sent {
  readonly caller: (typeof CALLERS)[number]
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/** Every cell of a route: each caller, each thing its path can name, each body; HEAD beside GET. */
function cellsOf(method: string, template: string, rule: RouteRule): readonly Cell[] {
  return subjectsOf(template, rule).flatMap((subject) => {
    const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => subject.values[name] ?? '')
    return CALLERS.flatMap((caller) =>
      (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((one) => ({
        caller,
        method: one,
        path,
        body: subject.body,
        answer: expected(rule, caller, subject),
      })),
    )
  })
}

function subjectsOf(template: string, rule: RouteRule): readonly Subject[] {
  let all: readonly Subject['values'][] = [{}]
  for (const [, name = ''] of template.matchAll(/\{(\w+)\}/g)) {
    all = all.flatMap((values) => valuesOf(name, rule).map((value) => ({ ...values, [name]: value })))
  }
  return all.flatMap((values) =>
    (rule.bodies ?? [undefined]).map((body) => ({
      owner: OWNERS.find(({ name }) => name === (values['owner'] ?? values['org'])),
      repository: (['public', 'private'] as const).find((name) => name === values['repo']),
      values,
      body,
    })),
  )
}

function valuesOf(name: string, { values = {} }: RouteRule): readonly string[] {
  if (name === 'owner' || name === 'org') return [...OWNERS.map((owner) => owner.name), 'unknown-name']
  if (name === 'repo') return ['public', 'private', 'nothing-of-that-name']
  const own = values[name]
  if (own === undefined) throw new TypeError(`the access table has no values for {${name}}: add them to the rule`)
  return own
}

/** What is answered: the status, the code of an error, and the whole reply. */
async function ask({ caller, method, path, body }: Sent): Promise<{ readonly answer: string; readonly reply: string }> {
  const token = caller === 'invalid credential' ? 'token no-such-token' : `token ${caller}-token`
  const headers: Record<string, string> = caller === 'anonymous' ? {} : { authorization: token }
  const reply = await dispatched(host.api, { method, path, headers, body }, (header) => host.authenticate(header))
  const code = method === 'HEAD' || reply.status < 400 ? '' : ` ${JSON.parse(reply.text).code}`
  return { answer: `${reply.status}${code}`, reply: JSON.stringify([reply.status, [...reply.headers], reply.text]) }
}

/** How many events there are: one for each change. */
async function changes(): Promise<number> {
  const { items } = await host.forge.events.list({}, { limit: 1 })
  return Number(items[0]?.id ?? 0) // in memory the ids are the numbers of the events
}

/** What is wrong with the answers to cells, a line for each; after it nothing is blocked that was not. */
async function mismatches(cells: readonly Cell[]): Promise<readonly string[]> {
  const found: string[] = []
  let before = await changes()
  for (const cell of cells) {
    const { answer } = await ask(cell)
    const wanted = cell.method === 'HEAD' ? cell.answer.slice(0, 3) : cell.answer
    const isChanged = (await changes()) !== before
    const what = `${cell.method} ${cell.path} ${cell.body ?? ''} by ${cell.caller}`
    if (answer !== wanted) found.push(`${what}: ${answer}, not ${wanted}`)
    if (isChanged && cell.answer !== '204') found.push(`${what}: something was changed`)
    if (isChanged && cell.method === 'PUT') {
      const isOwn = cell.path.startsWith('/user/')
      await ask({ ...cell, ...(!isOwn && { caller: 'root' }), method: 'DELETE' }) // the next may block too
    }
    if (isChanged) before = await changes()
  }
  return found
}

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
  test('has a rule for every route, and no other, and thousands of cells', () => {
    expect(Object.keys(RULES).sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
    expect(table.flatMap(([, cells]) => cells).length).toBeGreaterThan(5000)
  })

  test.each(table)('holds for %s', async (_route, cells) => {
    expect(await mismatches(cells)).toEqual([])
  })

  test.each(table)('answers %s for what is hidden as for what does not exist', async (_route, cells) => {
    for (const isHead of [false, true]) {
      const hidden = cells.filter(
        ({ answer, method }) =>
          /^404 (?:REPOSITORY|ORGANIZATION)_NOT_FOUND$/.test(answer) && (method === 'HEAD') === isHead,
      )
      const replies = new Set<string>()
      for (const cell of hidden) replies.add((await ask(cell)).reply)
      expect(replies.size).toBeLessThanOrEqual(1)
    }
  })
})
