import { expect, test } from 'vitest'
import { SQLITE } from '../../databases.ts'
import { startForgelet } from '../../start-forgelet.ts'
import { issueRecord } from '../../world.ts'
import { exchangeSuite } from './exchange-suite.ts'

exchangeSuite([SQLITE])

test('an import over HTTP says how many violations there are, and where, also those that only it finds', async () => {
  const fixture = { users: [{ username: 'ada', tokens: ['t'] }], repositories: [{ owner: 'ada', name: 'rocket' }] }
  const { url } = await startForgelet(['--db', ':memory:'], { fixture })
  const labels = Array.from({ length: 150 }, () => ({ name: 'a\0b' }))
  const body = `[\n${JSON.stringify(issueRecord(2))},\n${JSON.stringify(issueRecord(3, { labels }))}\n]`
  const headers = { authorization: 'token t' }
  const reply = await fetch(`${url}/repos/ada/rocket/issues/import?dry_run=true`, { method: 'POST', headers, body })
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
