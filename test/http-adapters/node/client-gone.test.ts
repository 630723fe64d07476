import { describe, expect, it } from 'vitest'
import { createApi } from '../../../src/http-adapters/http.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import { createForge } from '../../../src/index.ts'
import { deferred } from '../../deferred.ts'
import type { Connection } from '../../http.ts'
import { ask, dial, exchange, serve } from '../../http.ts'
import { newFile, openHandle, openStorage } from '../../storage/sql/database-files.ts'
import type { Person } from '../../world.ts'
import { authenticate, directory, openWorld, present } from '../../world.ts'
import { mounted } from './mounted.ts'

/** The id of stan, who is blocked by a client that does not wait. */
const HASTY = '7'

async function opened(port: number, text: string): Promise<Connection> {
  const connection = await dial(port)
  await connection.send(text)
  return connection
}

describe('a client that goes away', () => {
  it('after its answer aborts nothing', async () => {
    const seen = deferred<AbortSignal | undefined>()
    const world = openWorld({
      directory: {
        ...directory,
        findAccount(name, context) {
          seen.resolve(context.signal)
          return directory.findAccount(name, context)
        },
      },
    })
    const closed = deferred()
    const handler = mounted(world)
    const port = await serve((request, response) => {
      response.on('close', () => closed.resolve())
      handler(request, response)
    })
    const connection = await opened(port, ask('GET /api/orgs/acme/blocks', { Authorization: 'token olga' }))
    await connection.reply()
    connection.socket.destroy()
    await closed.promise

    expect((await seen.promise)?.aborted).toBe(false)
  })

  it('while its change waits for the database writes nothing, and its neighbour is written', async () => {
    const file = newFile()
    const storage = await openStorage(file)
    const asked = deferred()
    const forge = createForge<Person, unknown>({
      storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: {
        isMember({ userId }) {
          if (userId === HASTY) asked.resolve()
          return false
        },
      },
    })
    const handler = nodeHandler<Person>(createApi(forge, { directory, present }), {
      authenticate: ({ headers }) => authenticate(headers.authorization),
    })
    const closed = deferred()
    const port = await serve((request, response) => {
      if (request.url?.endsWith('/stan') === true) response.on('close', () => closed.resolve())
      handler(request, response)
    })
    const other = openHandle(file)
    other.exec('begin immediate')
    const { socket } = await opened(port, ask('PUT /orgs/acme/blocks/stan', { Authorization: 'token root' }))
    const patient = exchange(
      port,
      ask('PUT /orgs/acme/blocks/will', { Authorization: 'token root', Connection: 'close' }),
    )

    await asked.promise
    socket.destroy()
    await closed.promise
    other.exec('rollback')

    expect(await patient).toMatch(/^HTTP\/1.1 204 /)
    const { items } = await forge.blocks.list('system', { organizationId: 6 })
    expect(items).toMatchObject([{ userId: '5' }])
  })
})
