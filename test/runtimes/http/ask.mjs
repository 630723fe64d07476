// What a server is asked: the entries it could load, the cases of the wire, and those of the mount contract.
import assert from 'node:assert/strict'
import { begin, reported, send } from './client.mjs'
import { mountCases } from './mount-cases.mjs'
import { wireCases } from './wire-cases.mjs'

/**
 * @param kinds - the storages that the server has, or its handlers
 * @param resets - whether the runtime notices only clients that reset their connection
 * @param excepted - the cases of the mount contract that the runtime decides itself
 */
export function casesOf({ port, kinds, excepted, resets = false }) {
  const cases = [
    { name: 'the portable entries load', run: () => assertLoaded(port) },
    ...kinds.flatMap((kind) => wireCases(port, kind)),
    ...kinds
      .filter(() => resets)
      .map((kind) => ({
        name: `${kind}: a client that resets aborts the signal`,
        run: () => assertAborted(port, kind),
      })),
  ]
  return { cases, contracts: kinds.map((kind) => mountCases(port, kind, excepted)) }
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
