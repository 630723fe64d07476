// A host in a framework of Fetch requests. A tracer does not see a native driver that the package opens, but one that the host imports.
import Database from 'better-sqlite3'
import { createForge } from 'forgelet'
import { fetchHandler } from 'forgelet/fetch'
import { createApi } from 'forgelet/http'
import { mariadbStorage } from 'forgelet/storage/mariadb'
import { postgresStorage } from 'forgelet/storage/postgres'
import { sqliteStorage } from 'forgelet/storage/sqlite'

const OPEN = { postgres: postgresStorage, mysql: mariadbStorage, sqlite: (file) => sqliteStorage(new Database(file)) }
let opened

/** Answers a request. The storage is opened by the first one: Next loads this module while it builds. */
export async function handler(request) {
  opened ??= open(...process.argv.slice(2))
  return (await opened)(request)
}

async function open(kind, place) {
  const storage = OPEN[kind](place)
  const forge = createForge({ storage, policy: { authorize: () => ({ allow: true }) }, services: ['pins'] })
  const api = createApi(forge, {
    directory: {
      findRepository: () => ({ id: 1 }),
      findIssue: (repositoryId) => ({ id: 7, repositoryId, kind: 'issue' }),
    },
    present: { issues: (ids) => ids.map((id) => ({ id })), pullRequests: () => [] },
  })
  await storage.migrate()
  return fetchHandler(api, { authenticate: () => ({ id: 1 }) })
}
