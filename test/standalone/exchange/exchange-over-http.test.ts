import { beforeAll, describe, expect, test } from 'vitest'
import { startForgelet } from '../../start-forgelet.ts'
import { issueRecord } from '../../world.ts'

const EXPORT = '/repos/acme/rocket/issues/export'
const IMPORT = '/repos/acme/rocket/issues/import'

const fixture = {
  users: [
    { username: 'root', siteAdmin: true, tokens: ['root-token'] },
    { username: 'ada', tokens: ['ada-token'] },
    { username: 'rita', tokens: ['rita-token'] },
  ],
  organizations: [{ name: 'acme', owners: ['root'] }],
  repositories: [{ owner: 'acme', name: 'rocket', admins: ['ada'], readers: ['rita'] }],
}
const document = [issueRecord(1), issueRecord(7, { labels: [{ name: 'bug', color: 'd73a4a' }] })]

/** Asks a standalone host over HTTP, as someone. */
type Ask = (who: string, method: string, path: string, body?: string) => Promise<Response>

describe('a standalone host over HTTP', () => {
  let ask: Ask

  beforeAll(async () => {
    const { url, stop } = await startForgelet(['--db', ':memory:'], { fixture })
    ask = (who, method, path, body) => {
      const headers: Record<string, string> = who === 'anonymous' ? {} : { authorization: `token ${who}-token` }
      return fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) })
    }
    expect((await ask('ada', 'POST', IMPORT, JSON.stringify(document))).status).toBe(200)
    return async () => void (await stop())
  })

  test.each(['root', 'ada'])(
    'exports to %s, an admin, the canonical document to the byte, with addresses',
    async (who) => {
      const canonical = `[\n${document.map((issue) => JSON.stringify(issue)).join(',\n')}\n]\n`

      expect(await (await ask(who, 'GET', EXPORT)).text()).toBe(canonical)
    },
  )

  test.each(['rita', 'anonymous'])('shows no address in an export to %s', async (who) => {
    const text = await (await ask(who, 'GET', EXPORT)).text()

    expect(JSON.parse(text)).toHaveLength(2)
    expect(text).not.toContain('@')
  })

  test('lets no admin of the repository attribute an import to accounts', async () => {
    const attributed = `${IMPORT}?attribution=accounts`

    expect((await ask('ada', 'POST', attributed, '[]')).status).toBe(403)
    expect((await ask('root', 'POST', attributed, '[]')).status).toBe(200)
  })

  test('says how many violations there are, and where in the body, also those that only an import finds', async () => {
    const labels = Array.from({ length: 150 }, () => ({ name: 'a\0b' }))
    const body = `[\n${JSON.stringify(issueRecord(2))},\n${JSON.stringify(issueRecord(3, { labels }))}\n]`
    const reply = await ask('ada', 'POST', `${IMPORT}?dry_run=true`, body)
    const { violations, ...error } = JSON.parse(await reply.text())

    expect([reply.status, error.code, error.total]).toEqual([422, 'INVALID_DOCUMENT', 150])
    expect(violations).toHaveLength(100)
    expect(violations[1]).toEqual({
      pointer: '/1/labels/1/name',
      code: 'nul',
      message: 'expected a string without NUL, which some databases cannot store',
      offset: body.lastIndexOf('{"number"'),
      line: 3,
    })
  })

  test('takes its own export, and changes nothing', async () => {
    const text = await (await ask('ada', 'GET', EXPORT)).text()
    const report = await (await ask('ada', 'POST', IMPORT, text)).json()

    expect(report).toMatchObject({ issues: { created: 0, updated: 0, unchanged: 2, skipped: 0 } })
    expect(await (await ask('ada', 'GET', EXPORT)).text()).toBe(text)
  })
})
