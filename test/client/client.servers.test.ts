import { afterAll } from 'vitest'
import { onServer } from '../storage/databases/servers.ts'
import { newDatabase, SERVER_KINDS } from '../storage/sql/server/server-databases.ts'
import { giteaJsSuite } from './gitea-js-suite.ts'
import { rolesSuite } from './roles-suite.ts'
import type { StartServer } from './served.ts'
import { serveFrom } from './served.ts'

// dist/cli.js on every server, each time with a database of its own: the same expectations as on SQLite.

const ends: (() => Promise<void>)[] = []

afterAll(async () => {
  for (const end of ends) await end()
})

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    const start: StartServer = async (options) => {
      const { url } = await newDatabase(kind, server, (end) => void ends.unshift(end))
      return serveFrom(() => url, options)
    }
    giteaJsSuite(`forgelet serve on ${kind.server.name}`, start, true)
    rolesSuite(`forgelet serve on ${kind.server.name}`, start)
  })
}
