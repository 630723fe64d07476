import { afterAll } from 'vitest'
import { onServer } from '../../storage/databases/servers.ts'
import { newDatabase, SERVER_KINDS } from '../../storage/sql/server/server-databases.ts'
import { standaloneAccessSuite } from './standalone-access-suite.ts'

const ends: (() => Promise<void>)[] = []

afterAll(async () => {
  for (const end of ends) await end()
})

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    standaloneAccessSuite(kind.server.name, async () => {
      const { url } = await newDatabase(kind, server, (end) => void ends.unshift(end))
      return url
    })
  })
}
