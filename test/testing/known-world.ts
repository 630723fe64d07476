import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { onTestFinished } from 'vitest'
import type { ContractCase, KnownHost } from '../../app/testing/testing.ts'
import { mountContract } from '../../app/testing/testing.ts'
import type { Directory } from '../../src/http-adapters/http.ts'
import { nodeHandler } from '../../src/http-adapters/node.ts'
import { deferred } from '../deferred.ts'
import { listening } from '../http.ts'
import type { Person, World, WorldOptions } from '../world.ts'
import { authenticate, directory, openWorld, sshKey } from '../world.ts'

/** A world, and what the mount contract may know of it. */
export interface KnownWorld {
  readonly world: World
  readonly known: KnownHost
}

const SECRET = 'password=hunter2'

/** A world in which a port fails for one repository, and waits for another. */
export function openKnownWorld(options: WorldOptions = {}): KnownWorld {
  const [asked, aborted] = [deferred(), deferred()]
  const wait = (signal: AbortSignal | undefined): Promise<never> =>
    new Promise((_resolve, reject) => {
      const abort = (): void => {
        aborted.resolve()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      if (signal?.aborted === true) abort()
      asked.resolve()
    })
  const findRepository: Directory<Person>['findRepository'] = (owner, name, context) => {
    if (owner === 'failing') throw new Error(`${SECRET} at /srv/secret`)
    return owner === 'waiting' ? wait(context.signal) : directory.findRepository(owner, name, context)
  }
  const hasPins = options.services?.includes('pins') ?? true
  return {
    world: openWorld({ signingKey: sshKey, directory: { ...directory, findRepository }, ...options }),
    known: {
      authorization: 'token root',
      organization: 'acme',
      users: ['stan', 'rita'],
      repository: 'acme/rocket',
      publicUrl: options.publicUrl,
      maxBodyBytes: options.limits?.maxBodyBytes,
      maxImportBytes: options.limits?.maxImportBytes,
      failing: hasPins ? { path: '/repos/failing/it/issues/pinned', secret: SECRET } : undefined,
      waiting: hasPins
        ? { path: '/repos/waiting/it/issues/pinned', asked: () => asked.promise, aborted: () => aborted.promise }
        : undefined,
    },
  }
}

/** Where a known world is mounted. */
export const PREFIX = '/a/b'

/** A case of the mount contract over a known world on Node, until the test ends. If there is an elsewhere, the host answers there. */
export async function caseOver(
  name: string,
  {
    world: options = {},
    host = (handle) => handle,
    ...described
  }: KnownHost & { readonly world?: WorldOptions; readonly host?: (handle: RequestListener) => RequestListener },
): Promise<ContractCase & Pick<KnownWorld, 'world'>> {
  const { world, known } = openKnownWorld({
    ...options,
    limits: { maxBodyBytes: 50_000, maxImportBytes: 400_000 },
    publicUrl: 'https://git.example.com/api/v1',
  })
  const handler = nodeHandler<Person, IncomingMessage>(world.api, {
    authenticate: ({ headers }) => authenticate(headers.authorization),
    basePath: PREFIX,
  })
  const server = createServer(
    host((request, response) => {
      const next = () => void response.end(`the host: ${request.url}`)
      handler(request, response, described.elsewhere && next)
    }),
  )
  const { origin, stop } = await listening(server)
  onTestFinished(stop)

  const start = async () => ({ origin, prefix: PREFIX, stop: async () => undefined })
  const found = mountContract(start, { ...known, ...described }).find((one) => one.name === name)
  if (found === undefined) throw new TypeError(`no case is named ${name}`)
  return { ...found, world }
}
