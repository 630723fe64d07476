// The small host of the tests of HTTP, as the servers of every runtime mount it: worlds that are opened when their
// first request comes. The path says which: /STORAGE/WORLD/api/….
import * as front from 'forgelet'
import * as exchange from 'forgelet/exchange'
import * as fetchEntry from 'forgelet/fetch'
import * as http from 'forgelet/http'
import * as schema from 'forgelet/schema'
import * as durableObject from 'forgelet/storage/durable-object'
import * as memory from 'forgelet/storage/memory'
import { authenticate, directory, openCase, sshKey } from '../../world.ts'

const PORTABLE = { front, schema, exchange, http, fetchEntry, memory, durableObject }

/** How many names each entry exports that runs without Node. */
export function entries() {
  return Object.fromEntries(Object.entries(PORTABLE).map(([name, entry]) => [name, Object.keys(entry).length]))
}

/** Opens a world. Records whether its directory was asked, and left by the client. */
export async function openReporting(storage) {
  const reported = { asked: false, gone: false }
  const { api } = await openCase({ ...optionsOf(reported), ...(storage === undefined ? {} : { storage }) })
  return { api, reported }
}

/** What the path of an address begins with: a storage, a world, and what is asked of it. The host may be garbage. */
export function segmentsOf(url) {
  const [, ...segments] = url.replace(/^[a-z]+:\/\/[^/?]*/i, '').split(/[/?]/)
  return segments
}

/**
 * A function of Fetch requests.
 *
 * @param storages - the storages by name: each makes one for a world, or gives undefined for one in memory
 */
export function worldListener(storages) {
  const mounts = new Map()

  return async (request) => {
    const [kind, name, rest] = segmentsOf(request.url)
    if (kind === 'entries') return Response.json(entries())
    const base = `/${kind}/${name}`
    if (!mounts.has(base)) mounts.set(base, mount(storages[kind], name, `${base}/api`))
    const { handler, reported } = await mounts.get(base)
    return rest === 'reported' ? Response.json(reported) : handler(request)
  }
}

async function mount(storageOf, name, basePath) {
  const { api, reported } = await openReporting(await storageOf(name))
  const handler = fetchEntry.fetchHandler(api, {
    basePath,
    authenticate: ({ headers }) => authenticate(headers.get('authorization') ?? undefined),
  })
  return { handler, reported }
}

/** A port fails for one repository, and waits for another; what they throw is not logged. */
function optionsOf(reported) {
  const wait = waitForAbort(reported)
  const findRepository = (owner, name, context) => {
    if (owner === 'failing') throw new Error('password=hunter2 at /srv/secret')
    return owner === 'waiting' ? wait(name, context) : directory.findRepository(owner, name, context)
  }
  return {
    limits: { maxBodyBytes: 50_000, maxImportBytes: 400_000 },
    signingKey: sshKey,
    directory: { ...directory, findRepository },
  }
}

/** Finds nothing until the client is gone, or long after that. Workers must have something to wait for: a timer will do. */
function waitForAbort(reported) {
  return (_name, { signal }) => {
    reported.asked = true
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 20_000)
      signal.addEventListener('abort', () => {
        reported.gone = true
        clearTimeout(timer)
        reject(signal.reason)
      })
    })
  }
}
