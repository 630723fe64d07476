import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RequestListener } from '../../src/cli/request-listener.ts'
import { createApi } from '../../src/http-adapters/http.ts'
import { openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { authenticate } from '../../src/standalone/authenticate.ts'
import { hostDirectory } from '../../src/standalone/host-ports.ts'
import { openMemoryHost } from '../../src/standalone/memory-host.ts'
import { hostPresenter } from '../../src/standalone/presenter/presenter.ts'
import { seedFromFixture } from '../../src/standalone/seed-from-fixture.ts'
import { parseFixture } from '../../src/standalone/standalone.ts'
import type { Served, ServeOptions } from './served.ts'
import { world } from './world.ts'

/** Serves the world from plain memory, in this process, behind the front listener of `forgelet serve`. */
export async function serveFromMemory({ signingKey }: ServeOptions): Promise<Served> {
  const { forge, store } = await openMemoryHost(seedFromFixture(parseFixture(world), new Date()), {
    signingKey: signingKey === undefined ? undefined : await openKeyFile(signingKey),
  })
  const listener = new RequestListener()
  const server = createServer((request, response) => listener.receive(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  listener.open({
    api: createApi(forge, {
      directory: hostDirectory(store),
      present: hostPresenter(store, url),
      publicUrl: url,
    }),
    authenticate: async (header) => authenticate(store, header),
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
