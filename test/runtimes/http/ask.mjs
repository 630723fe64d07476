// What a server is asked: the entries it could load, and the published contract of mountings.
import assert from 'node:assert/strict'
import { mountContract } from 'forgelet/testing'
import { begin, reported, send } from './client.mjs'

/**
 * The cases of each storage or handler that a server has: one after another, because they block and unblock the same users.
 *
 * @param kinds - the storages that the server has, or its handlers: the path names one
 * @param resets - whether the runtime notices only clients that reset their connection
 * @param excepted - the cases of the mount contract that the runtime decides itself
 */
export function casesOf({ port, kinds, excepted, resets = false }) {
  return kinds.map((kind) => [
    { name: 'the portable entries load', run: () => assertLoaded(port) },
    ...mountCases(port, kind, excepted),
    ...(resets
      ? [{ name: `${kind}: a client that resets aborts the signal`, run: () => assertAborted(port, kind) }]
      : []),
  ])
}

function mountCases(port, kind, excepted) {
  const world = `/${kind}/mounted`
  const start = async () => ({
    origin: `http://127.0.0.1:${port}`,
    prefix: `${world}/api`,
    stop: async () => undefined,
  })
  const cases = mountContract(start, {
    authorization: 'token root',
    organization: 'acme',
    users: ['stan', 'rita'],
    repository: 'acme/rocket',
    maxBodyBytes: 50_000,
    maxImportBytes: 400_000,
    failing: { path: '/repos/failing/it/issues/pinned', secret: 'password=hunter2' },
    waiting: {
      path: '/repos/waiting/it/issues/pinned',
      asked: () => reported(port, world, 'asked'),
      aborted: () => reported(port, world, 'gone'),
    },
  })
  const unknown = excepted.filter((name) => !cases.some((one) => one.name === name))
  if (unknown.length > 0) throw new TypeError(`the mount contract has no such case: ${unknown.join('; ')}`)
  return cases
    .filter(({ name }) => !excepted.includes(name))
    .map(({ name, run }) => ({ name: `${kind}: mounted: ${name}`, run }))
}

async function assertLoaded(port) {
  const { text } = await send(port, { method: 'GET', path: '/entries' })
  for (const [entry, names] of Object.entries(JSON.parse(text))) assert.ok(names > 0, entry)
}

async function assertAborted(port, kind) {
  const world = `/${kind}/left`
  const outgoing = begin(port, { method: 'GET', path: `${world}/api/repos/waiting/it/issues/pinned` })
  outgoing.on('error', () => undefined)
  await reported(port, world, 'asked')
  outgoing.socket.resetAndDestroy()
  await reported(port, world, 'gone')
}
