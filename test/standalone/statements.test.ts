import Database from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import type { Standalone } from '../../app/standalone/standalone.ts'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { routeTable } from '../../src/http-adapters/routes/route-table.ts'
import { dispatched } from '../http-adapters/dispatch.ts'
import { RULES } from '../services.ts'

// docs/databases.md states these numbers: how many statements a request runs, whatever the length of its page.

const many = (length: number): readonly number[] => Array.from({ length }, (_, at) => at + 1)

/** A world in which as much is pinned and blocked as a page can hold. */
function world(length: number): object {
  const users = many(length).map((at) => `user-${at}`)
  const issue = (index: number, pull: boolean): object => ({
    index,
    pull,
    title: `Number ${index}`,
    poster: users[index % length],
    labels: ['bug', 'idea'],
    assignees: [users[0], users[(index + 1) % length]],
  })
  return {
    users: [{ username: 'olga', tokens: ['olga-token'], siteAdmin: true }, ...users.map((username) => ({ username }))],
    organizations: [{ name: 'acme', owners: ['olga'], blocks: users.map((user) => ({ user })) }],
    repositories: [
      {
        owner: 'acme',
        name: 'rocket',
        labels: [{ name: 'bug' }, { name: 'idea' }],
        issues: [
          ...many(length).map((index) => issue(index, false)),
          ...many(length).map((index) => issue(length + index, true)),
        ],
        pins: many(2 * length),
      },
    ],
  }
}

let host: Standalone | undefined

afterEach(async () => {
  vi.restoreAllMocks()
  await host?.close()
})

/** Answers a request of Olga's. */
async function statusOf(standalone: Standalone, method: string, path: string): Promise<number> {
  const headers = { authorization: 'token olga-token' }
  const body = path.startsWith('/admin/') ? '{"badge_slugs":[]}' : undefined
  const sent = { method, path: `${path}?limit=50`, headers, body }
  const { status } = await dispatched(standalone.api, sent, (header) => standalone.authenticate(header))
  return status
}

/** Counts the statements on the tables of the host that run on any handle from now on. */
function countStatements(): () => number {
  let count = 0
  const prepare = Database.prototype.prepare
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql)
    if (!sql.includes('"host_')) return statement

    const { all, run } = statement
    const counted = <T>(result: T): T => {
      count += 1
      return result
    }
    return Object.assign(statement, {
      all: (...values: unknown[]) => counted(Reflect.apply(all, statement, values)),
      run: (...values: unknown[]) => counted(Reflect.apply(run, statement, values)),
    })
  })
  return () => count
}

/** How many issues and pull requests an export reads at once at first. The world has as many of each. */
const FIRST_PAGE_OF_EXPORT = 20

const VALUES = { owner: 'acme', repo: 'rocket', index: '1', position: '1', org: 'acme', username: 'user-1' }

test.each(routeTable.map((route) => [route.operationId, route] as const))(
  '%s asks the host for as much, whatever the length of the page',
  async (operationId, { method, path }) => {
    const named = Object.entries(VALUES).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path)
    const counts: number[] = []
    for (const length of operationId === 'repoExportIssues' ? [1, 3, FIRST_PAGE_OF_EXPORT / 2] : [1, 3, 30]) {
      const count = countStatements()
      const limits = { maxPins: { issue: 30, pullRequest: 30 } }
      host = await openStandalone({ db: ':memory:', fixture: world(length), limits })
      if (operationId === 'userListBlocks')
        for (const at of many(length)) expect(await statusOf(host, 'PUT', `/user/blocks/user-${at}`)).toBe(204)
      const before = count()
      expect(await statusOf(host, method, named)).toBeLessThan(500)
      counts.push(count() - before)
      await host.close()
      vi.restoreAllMocks()
    }
    const each = RULES[operationId]?.statements
    expect(counts, 'the rule of the route in test/services/ has its statements').toEqual([each, each, each])
  },
)
