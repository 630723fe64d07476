import type { Directory } from '../../src/http-adapters/http.ts'
import type { KnownHost } from '../../src/testing/testing.ts'
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
  const watch = new Watch()
  const findRepository: Directory<Person>['findRepository'] = (owner, name, context) => {
    if (owner === 'failing') throw new Error(`${SECRET} at /srv/secret`)
    return owner === 'waiting' ? watch.wait(context.signal) : directory.findRepository(owner, name, context)
  }
  const world = openWorld({ signingKey: sshKey, directory: { ...directory, findRepository }, ...options })
  const ports = (options.services?.includes('pins') ?? true) ? portsOf(watch) : {}
  return {
    world,
    known: {
      authorization: 'token root',
      organization: 'acme',
      users: ['stan', 'rita'],
      repository: 'acme/rocket',
      publicUrl: options.publicUrl,
      maxBodyBytes: options.limits?.maxBodyBytes,
      maxImportBytes: options.limits?.maxImportBytes,
      ...ports,
    },
  }
}

/** The paths of the service `pins` on which a port fails or waits. */
function portsOf(watch: Watch): Pick<KnownHost, 'failing' | 'waiting'> {
  return {
    failing: { path: '/repos/failing/it/issues/pinned', secret: SECRET },
    waiting: {
      path: '/repos/waiting/it/issues/pinned',
      asked: () => watch.asked,
      aborted: () => watch.aborted,
    },
  }
}

/** Reports when a port is called, and when its signal is aborted. */
class Watch {
  readonly asked: Promise<void>
  readonly aborted: Promise<void>
  #tellAsked: () => void = () => undefined
  #tellAborted: () => void = () => undefined

  constructor() {
    this.asked = new Promise((resolve) => {
      this.#tellAsked = resolve
    })
    this.aborted = new Promise((resolve) => {
      this.#tellAborted = resolve
    })
  }

  wait(signal: AbortSignal | undefined): Promise<undefined> {
    return new Promise((_resolve, reject) => {
      const abort = (): void => {
        this.#tellAborted()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      if (signal?.aborted === true) abort()
      this.#tellAsked()
    })
  }
}
