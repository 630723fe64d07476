import type { KnownHost } from '../../app/testing/testing.ts'
import type { Directory } from '../../src/http-adapters/http.ts'
import { deferred } from '../deferred.ts'
import type { Person, World, WorldOptions } from '../world.ts'
import { directory, openWorld, sshKey } from '../world.ts'

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
