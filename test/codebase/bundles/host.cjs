// A host that is bundled or traced: the storage of a URL or a file, its tables, one route. Arguments: the kind, and the place.
const { createServer } = require('node:http')
const { createForge } = require('forgelet')
const { createApi } = require('forgelet/http')
const { nodeHandler } = require('forgelet/node')
const { mariadbStorage } = require('forgelet/storage/mariadb')
const { postgresStorage } = require('forgelet/storage/postgres')
const { sqliteStorage } = require('forgelet/storage/sqlite')

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
