import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RequestListener } from '../../src/cli/json-server.ts'
import type { Api } from '../../src/http-adapters/http.ts'
import { createApi } from '../../src/http-adapters/http.ts'
import { openKeyFile } from '../../src/signing-keys/signing-keys.ts'
import { authenticate } from '../../src/standalone/authenticate.ts'
import { seedFromFixture } from '../../src/standalone/fixture/seed-from-fixture.ts'
import type { StandaloneUser } from '../../src/standalone/host-ports.ts'
import { hostDirectory } from '../../src/standalone/host-ports.ts'
import { openMemoryHost } from '../../src/standalone/memory-host.ts'
import { hostPresenter } from '../../src/standalone/presenter/presenter.ts'
import { parseFixture } from '../../src/standalone/standalone.ts'
import type { Host } from '../http-adapters/hosts/host.ts'
import type { Served, ServeOptions } from './served.ts'
import { world } from './world.ts'

/** The world in plain memory, in this process. */
interface MemoryWorld {
  /** The API of it, for an address. */
  apiAt(url: string): Api<StandaloneUser>
  authenticate(header: string | undefined): Promise<StandaloneUser | null>
  close(): Promise<void>
}

/** Serves the world from plain memory, in this process, behind the front listener of `forgelet serve`. */
export async function serveFromMemory(options: ServeOptions): Promise<Served> {
  const { apiAt, close, ...memory } = await openMemoryWorld(options)
  const listener = new RequestListener()
  const server = createServer((request, response) => listener.receive(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const checkDatabase = async (): Promise<void> => undefined
  listener.open({ api: apiAt(url), authenticate: memory.authenticate, checkDatabase }, { logger: console })

  return {
    url,
    async stop() {
      server.close()
      server.closeAllConnections()
      await close()
    },
  }
}

/** Serves the world from plain memory, in this process, mounted in a framework. */
export async function serveMounted(host: Host, options: ServeOptions): Promise<Served> {
  const { apiAt, close, ...memory } = await openMemoryWorld(options)
  let api = apiAt('http://127.0.0.1/api/v1')
  const running = await host.start(() => ({ api, authenticate: memory.authenticate }), { prefix: '/api/v1' })
  const url = `${running.origin}/api/v1`
  api = apiAt(url)

  return {
    url,
    async stop() {
      await running.stop()
      await close()
    },
  }
}

async function openMemoryWorld({ signingKey }: ServeOptions): Promise<MemoryWorld> {
  const { forge, store } = await openMemoryHost(seedFromFixture(parseFixture(world), new Date()), {
    signingKey: signingKey === undefined ? undefined : await openKeyFile(signingKey),
  })
  return {
    apiAt: (url) =>
      createApi(forge, {
        directory: hostDirectory(store),
        present: hostPresenter(store, url),
        publicUrl: url,
      }),
    authenticate: async (header) => authenticate(store, header),
    close: () => forge.close(),
  }
}
