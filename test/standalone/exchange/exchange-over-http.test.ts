import { beforeAll, describe, expect, test } from 'vitest'
import { startForgelet } from '../../start-forgelet.ts'
import { issueRecord } from '../../world.ts'

const EXPORT = '/repos/acme/rocket/issues/export'
const IMPORT = '/repos/acme/rocket/issues/import'

const fixture = {
  users: [{ username: 'ada', tokens: ['ada-token'] }],
  organizations: [{ name: 'acme' }],
  repositories: [{ owner: 'acme', name: 'rocket', admins: ['ada'] }],
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

  test('exports the canonical document to the byte, and takes it without a change', async () => {
    const canonical = `[\n${document.map((issue) => JSON.stringify(issue)).join(',\n')}\n]\n`
    expect(await (await ask('ada', 'GET', EXPORT)).text()).toBe(canonical)

    const report = await (await ask('ada', 'POST', IMPORT, canonical)).json()
    expect(report).toMatchObject({ issues: { created: 0, updated: 0, unchanged: 2, skipped: 0 } })
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
})
