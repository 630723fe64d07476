import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FrontDesk } from '../../src/cli/front-desk.ts'
import { createApi } from '../../src/http-adapters/http.ts'
import { openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { authenticate } from '../../src/standalone/authenticate.ts'
import { rosterDirectory } from '../../src/standalone/host-ports.ts'
import { openMemoryHost } from '../../src/standalone/memory-host.ts'
import { rosterPresenter } from '../../src/standalone/presenter/presenter.ts'
import { parseFixture } from '../../src/standalone/standalone.ts'
import { takeCensus } from '../../src/standalone/take-census.ts'
import type { Served, ServeOptions } from './served.ts'
import { world } from './world.ts'

/** Serves the world from plain memory, in this process, behind the front desk of `forgelet serve`. */
export async function serveFromMemory({ signingKey }: ServeOptions): Promise<Served> {
  const { forge, roster } = await openMemoryHost(takeCensus(parseFixture(world), new Date()), {
    signingKey: signingKey === undefined ? undefined : await openKeyFile(signingKey),
  })
  const desk = new FrontDesk()
  const server = createServer((request, response) => desk.receive(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  desk.open({
    api: createApi(forge, {
      directory: rosterDirectory(roster),
      present: rosterPresenter(roster, url),
      publicUrl: url,
    }),
    authenticate: async (header) => authenticate(roster, header),
  })

  return {
    url,
    async stop() {
      server.close()
      server.closeAllConnections()
      await forge.close()
    },
  }
}
