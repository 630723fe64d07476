// The servers of bench/serve.mjs: `node bench/serve-server.mjs VARIANT DB RECORDED`.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import pg from 'pg'
import { runServer } from './harness.mjs'

/** The program itself, in this process: the command line decides what it does. */
async function serve(db) {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')

  process.argv.splice(2, process.argv.length, 'serve', '--db', db, '--port', String(port))
  const write = process.stdout.write.bind(process.stdout)
  const serves = new Promise((resolve) => {
    process.stdout.write = (text) => resolve(text) ?? true // its first line says that it serves
  })
  await import('../dist/cli.js')
  await serves
  process.stdout.write = write
  return { listening: true, address: () => ({ port }) }
}

/** The same statements, decisions and responses by hand. What no statement of an issue reads is in `shown`. */
function byHand(db, recorded) {
  const { check, list, shown } = JSON.parse(recorded)
  const pool = new pg.Pool({ connectionString: db, pipeline: true })
  const run = async ({ text }, values) => {
    const name = createHash('sha1').update(text).digest('hex')
    return (await pool.query({ name, text, values })).rows
  }
  const callerOf = async (authorization = '') => {
    const digest = createHash('sha256').update(authorization.replace('token ', '')).digest('hex')
    const [caller] = await run(check[0], [digest])
    return caller?.id
  }

  const statusOfBlock = async (organizationName, userName, authorization) => {
    const [, findAccount, findAccess, , findBlock] = check
    const caller = await callerOf(authorization)
    if (caller === undefined) return 401
    const [organization] = await run(findAccount, [organizationName])
    if (organization?.kind !== 'organization') return 404
    const [access] = await run(findAccess, [caller, organization.id, caller])
    if (access.role !== 'owner' && access.is_site_admin !== 1) return 403
    const [user] = await run(findAccount, [userName])
    const [block] = user === undefined ? [] : await run(findBlock, [organization.id, user.id])
    return block === undefined ? 404 : 204
  }

  const pinned = async (owner, name, authorization) => {
    const [, findRepository, findAccess, findBoard, ...page] = list
    const caller = await callerOf(authorization)
    const [repository] = await run(findRepository, [owner, name])
    const [access] = await run(findAccess, [caller, repository.id, caller, caller])
    if (access.is_private === 1) throw new Error('this server by hand decides about public repositories only')
    const pins = await run(findBoard, [repository.id, 'issue'])
    const ids = JSON.stringify(pins.map(({ issueId }) => issueId))
    const [issues] = await Promise.all(
      page.map((one) =>
        run(
          one,
          one.values.map((value) => (String(value).startsWith('[') ? ids : value)),
        ),
      ),
    )
    const found = new Map(issues.map(({ id, state, record }) => [String(id), { state, ...JSON.parse(record) }]))
    return JSON.stringify(
      pins.map(({ issueId }, index) => {
        const { title, content: body, state } = found.get(issueId)
        return { ...shown[index], title, body, state, pin_order: index + 1 }
      }),
    )
  }

  return createServer(async ({ url, headers }, response) => {
    const [, , , scope, one, two, three] = url.split('/')
    if (scope === 'orgs') {
      const status = await statusOfBlock(one, three, headers.authorization)
      response.writeHead(status, status === 204 ? undefined : { 'Content-Length': 0 }).end()
      return
    }
    const body = await pinned(one, two, headers.authorization)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body)
  })
}

await runServer({ serve, 'by hand': byHand })
