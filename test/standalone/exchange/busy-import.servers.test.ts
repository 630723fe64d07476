import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MARIADB, newDatabase, onDatabases, POSTGRES } from '../../databases.ts'
import { startForgelet } from '../../start-forgelet.ts'
import { issueRecord } from '../../world.ts'

/** Longer than a call may take. */
const HELD_MS = 7000

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test.each([
    ['its own table', 'update host_schema set version = version'],
    ['the repositories', 'update host_repositories set name = name'],
  ])(
    'an import waits for a row of %s that another transaction holds for longer than a call may take',
    async (...[, statement]) => {
      const database = await newDatabase(kind)
      const fixture = {
        users: [{ username: 'ada', tokens: ['ada-token'] }],
        repositories: [{ owner: 'ada', name: 'rocket' }],
      }
      const { url } = await startForgelet(['--db', database.url], { fixture })

      const other = await database.begun()
      await other.run(statement)
      const importing = fetch(`${url}/repos/ada/rocket/issues/import`, {
        method: 'POST',
        headers: { authorization: 'token ada-token' },
        body: JSON.stringify([issueRecord(1)]),
      })
      await after(HELD_MS)
      await other.rollback()
      const answer = await importing

      expect([answer.status, await answer.json()]).toMatchObject([200, { issues: { created: 1 } }])
    },
  )
})
