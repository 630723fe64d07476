// The servers of the ready server's rows in postgres.mjs: `node bench/serve-server.mjs VARIANT DB RECORDED`.
import { createServer } from 'node:http'
import pg from 'pg'
import { runServer } from './servers.mjs'

/** The program itself, in this process: the command line decides what it does, and its first line says where it serves. */
async function serve(db) {
  process.argv.splice(2, process.argv.length, 'serve', '--db', db, '--port', '0')
  const write = process.stdout.write
  const said = new Promise((resolve) => {
    process.stdout.write = (text) => resolve(text) ?? true
  })
  await import('../dist/cli.js')
  const [, port] = /:(\d+)/.exec(await said)
  process.stdout.write = write
  return { listening: true, address: () => ({ port }) }
}

/**
 * The recorded statements, with the user that is asked for, and the same decisions and responses by hand. What no statement of an
 * issue reads is in `shown`.
 */
function byHand(db, recorded) {
  const { check, list, shown } = JSON.parse(recorded)
  const pool = new pg.Pool({ connectionString: db, pipeline: true })
  const run = async ({ name, text, values }, given = values) => (await pool.query({ name, text, values: given })).rows

  const statusOfBlock = async (userName) => {
    const [findCaller, findOrganization, findAccess, findUser, findBlock] = check
    const [caller] = await run(findCaller)
    const [organization] = await run(findOrganization)
    if (caller === undefined || organization?.kind !== 'organization') return 404
    const [access] = await run(findAccess)
    if (access.role !== 'owner' && access.is_site_admin !== 1) return 403
    const [user] = await run(findUser, [userName])
    const [block] = user === undefined ? [] : await run(findBlock, [organization.id, user.id])
    return block === undefined ? 404 : 204
  }

  const pinned = async () => {
    const [findCaller, findRepository, findAccess, findBoard, ...page] = list
    await run(findCaller)
    await run(findRepository)
    await run(findAccess)
    const pins = await run(findBoard)
    const [issues] = await Promise.all(page.map((one) => run(one)))
    const found = new Map(issues.map(({ id, state, record }) => [String(id), { state, ...JSON.parse(record) }]))
    return pins.map(({ issueId }, index) => {
      const { title, content: body, state } = found.get(issueId)
      return { ...shown[index], title, body, state, pin_order: index + 1 }
    })
  }

  return createServer(async ({ url }, response) => {
    if (url.startsWith('/api/v1/orgs')) {
      const status = await statusOfBlock(url.slice(url.lastIndexOf('/') + 1))
      response.writeHead(status, status === 204 ? undefined : { 'Content-Length': 0 }).end()
      return
    }
    const body = JSON.stringify(await pinned())
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body)
  })
}

await runServer({ serve, 'by hand': byHand })
