// One process of a forge: the built package over a database, served by node:http on a free port, which it prints. A client that
// sends a credential may do everything. Users, organizations and repositories are identified by number: u40, o20, r10.
// It ends with its stdin, so that it never outlives the test, and failures are logged on stderr.
// Arguments: sqlite, postgres or mysql; a file or an address; the most pins on a board; whether the test has outages, which
// are not logged.
import { createServer } from 'node:http'
import { createApi } from '../../dist/http.js'
import { createForge } from '../../dist/index.js'
import { nodeHandler } from '../../dist/node.js'

const [kind, at, maxPins, hasOutages] = process.argv.slice(2)
const { [`${kind}Storage`]: open } = await import(`../../dist/storage/${kind}.js`)

const forge = createForge({
  storage: open(at),
  policy: { authorize: () => ({ allow: true }) },
  membership: { isMember: () => false },
  limits: { maxPins: { issue: Number(maxPins) } },
})

const api = createApi(forge, {
  directory: {
    findAccount(name) {
      const [, letter, id] = /^([uo])(\d+)$/.exec(name) ?? []
      return id && { kind: letter === 'u' ? 'user' : 'organization', id }
    },
    findRepository(_owner, name) {
      const [, id] = /^r(\d+)$/.exec(name) ?? []
      return id && { id }
    },
    findIssue: (repositoryId, index) => ({ id: String(index), repositoryId, kind: 'issue' }),
  },
  present: {
    users: (ids) => ids.map((id) => ({ id: Number(id), login: `u${id}` })),
    issues: numbered,
    pullRequests: numbered,
  },
  logger: { warn: report, error: report },
  limits: { maxPageSize: 1000 },
})

const authenticate = ({ headers }) => (headers.authorization === undefined ? null : { id: '1' })
const server = createServer(nodeHandler(api, { authenticate }))
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`))

process.stdin.resume().on('end', async () => {
  server.close()
  server.closeAllConnections()
  await forge.close()
})

function report(message, { error }) {
  if (hasOutages === 'true' && error.code === 'STORAGE_UNAVAILABLE') return
  process.stderr.write(`${message}: ${error.stack}\ncause: ${error.cause?.stack}\n`)
}

function numbered(ids) {
  return ids.map((id) => ({ id: Number(id), number: Number(id) }))
}
