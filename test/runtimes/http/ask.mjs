// Asks a server everything: the entries it could load, the cases of the wire, and the edges.
import assert from 'node:assert/strict'
import { send } from './client.mjs'
import { edgeCases } from './edge-cases.mjs'
import { mountCases } from './mount-cases.mjs'
import { wireCases } from './wire-cases.mjs'

/** Cases that run at once. */
const AT_ONCE = 8

/**
 * @param kinds - the storages that the server has, or its handlers
 * @param leave - goes away with a client's socket, so that the runtime notices
 * @param mounted - the kinds that the mount contract is run over
 * @param excepted - the cases of it that the runtime decides itself
 */
export async function askEverything({ port, kinds, leave, mounted, excepted }) {
  const cases = [
    { name: 'the portable entries load', run: () => assertLoaded(port) },
    ...kinds.flatMap((kind) => [...wireCases(port, kind), ...edgeCases(port, kind, leave)]),
  ]
  // One after another: they block and unblock the same users.
  const contracts = mounted.map((kind) => mountCases(port, kind, excepted))
  const failures = []
  const work = async (waiting) => {
    for (const { name, run } of waiting) {
      await run().catch((error) => failures.push(`${name}: ${error.stack}`))
    }
  }
  const waiting = cases.values()
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(waiting)))
  await Promise.all(contracts.map(work))
  return { passed: cases.length + contracts.flat().length - failures.length, failures }
}

async function assertLoaded(port) {
  const { text } = await send(port, { method: 'GET', path: '/entries' })
  for (const [entry, names] of Object.entries(JSON.parse(text))) assert.ok(names > 0, entry)
}
