// A host that is bundled or traced: the storage of a URL or a file, its tables, one route. Arguments: the kind, and the place.
import { createServer } from 'node:http'
import { createForge } from 'forgelet'
import { createApi } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { mariadbStorage } from 'forgelet/storage/mariadb'
import { postgresStorage } from 'forgelet/storage/postgres'
import { sqliteStorage } from 'forgelet/storage/sqlite'

const [kind, place] = process.argv.slice(2)
const storage = { postgres: postgresStorage, mysql: mariadbStorage, sqlite: sqliteStorage }[kind](place)
const forge = createForge({ storage, policy: { authorize: () => ({ allow: true }) }, services: ['pins'] })
const api = createApi(forge, {
  directory: {
    findRepository: () => ({ id: 1 }),
    findIssue: (repositoryId) => ({ id: 7, repositoryId, kind: 'issue' }),
  },
  present: { issues: (ids) => ids.map((id) => ({ id })), pullRequests: () => [] },
})
const server = createServer(nodeHandler(api, { authenticate: () => ({ id: 1 }) }))
storage.migrate().then(() => server.listen(process.env.PORT, '127.0.0.1'))
