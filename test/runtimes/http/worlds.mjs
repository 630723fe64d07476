// The small host of the tests of HTTP, as the servers of every runtime mount it: a world of its own for each case, opened
// when its first request comes. The path tells which: /STORAGE/WORLD/api/….
import * as front from 'forgelet'
import * as fetchEntry from 'forgelet/fetch'
import * as http from 'forgelet/http'
import * as schema from 'forgelet/schema'
import * as durableObject from 'forgelet/storage/durable-object'
import * as memory from 'forgelet/storage/memory'
import { cases } from '../../http-adapters/cases.ts'
import { authenticate, directory, openWorld, sshKey } from '../../http-adapters/world.ts'

const PORTABLE = { front, schema, http, fetchEntry, memory, durableObject }
const CASES = Object.values(cases).flat()

/** How many names each entry exports that runs without Node. */
export function entries() {
  return Object.fromEntries(Object.entries(PORTABLE).map(([name, entry]) => [name, Object.keys(entry).length]))
}

/** Opens a world: `case-N` is that of a case of the wire. Tells whether its directory was asked, and left by the client. */
export async function openNamed(name, storage) {
  const told = { asked: false, gone: false }
  const { api, forge } = openWorld({ ...optionsOf(name, told), ...(storage === undefined ? {} : { storage }) })
  for (const slug of ['night-owl', 'founder']) {
    const badge = { slug, description: `The ${slug}`, imageUrl: `https://example.com/${slug}.png` }
    await forge.badges.catalogue.define('system', badge)
  }
  return { api, told }
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
    const { handler, told } = await mounts.get(base)
    return rest === 'told' ? Response.json(told) : handler(request)
  }
}

async function mount(storageOf, name, basePath) {
  const { api, told } = await openNamed(name, await storageOf(name))
  const handler = fetchEntry.fetchHandler(api, {
    basePath,
    authenticate: ({ headers }) => authenticate(headers.get('authorization') ?? undefined),
  })
  return { handler, told }
}

function optionsOf(name, told) {
  const [, index] = /^case-(\d+)$/.exec(name) ?? []
  if (index !== undefined) return CASES[index].world
  if (name === 'small') return { limits: { maxBodyBytes: 100 } }
  if (name === 'waiting') return { directory: { ...directory, findAccount: waitForAbort(told) } }
  if (name === 'mounted') return mountedOptions(told)
  return {}
}

/** A port fails for one repository, and waits for another; what they throw is told to nobody. */
function mountedOptions(told) {
  const wait = waitForAbort(told)
  const findRepository = (owner, name, context) => {
    if (owner === 'failing') throw new Error('password=hunter2 at /srv/secret')
    return owner === 'waiting' ? wait(name, context) : directory.findRepository(owner, name, context)
  }
  return { limits: { maxBodyBytes: 50_000 }, signingKey: sshKey, directory: { ...directory, findRepository } }
}

/** Looks up nobody until the client is gone, or long after that. Workers must have something to wait for: a timer will do. */
function waitForAbort(told) {
  return (_name, { signal }) => {
    told.asked = true
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 20_000)
      signal.addEventListener('abort', () => {
        told.gone = true
        clearTimeout(timer)
        reject(signal.reason)
      })
    })
  }
}
