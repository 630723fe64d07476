// What an edge must get right and the cases of the wire cannot ask, over real HTTP. Source: docs/mounting.md
import assert from 'node:assert/strict'
import { begin, reported, send } from './client.mjs'

const BADGES = '/admin/users/stan/badges'
const ROOT = { authorization: 'token root' }

const FACTS = {
  'the mount point itself is not one of our paths, whatever its query': async ({ ask }) => {
    for (const path of ['', '/', '?limit=1', '/?limit=1']) {
      const { status, text } = await ask('usual', { method: 'GET', path })
      assert.deepEqual([status, JSON.parse(text).code], [404, 'ROUTE_NOT_FOUND'])
    }
  },

  'a body that comes in pieces is taken up to the limit': async ({ ask }) => {
    const body = ['{"badge_slugs":', '["night-owl"]}'.padEnd(85)]
    const { status } = await ask('small', { method: 'POST', path: BADGES, headers: ROOT, body })
    assert.equal(status, 204)
  },

  'a body that comes in pieces and is over the limit is 413': async ({ ask }) => {
    for (const method of ['POST', 'DELETE']) {
      const body = ['{"badge_slugs":', '["night-owl"]}'.padEnd(86)]
      const { status, text } = await ask('small', { method, path: BADGES, headers: ROOT, body })
      assert.deepEqual([status, JSON.parse(text).code], [413, 'BODY_TOO_LARGE'])
    }
  },

  'a large body over the limit is 413, and the next request is answered': async ({ ask }) => {
    const body = ['n'.repeat(1_000_000), 'n'.repeat(1_000_000)]
    const { status } = await ask('small', { method: 'POST', path: BADGES, headers: ROOT, body })
    assert.equal(status, 413)
    const next = await ask('small', { method: 'GET', path: '/repos/acme/rocket/new_pin_allowed' })
    assert.equal(next.status, 200)
  },

  'many requests at once pin no more than the limit': async ({ ask }) => {
    const pin = (index) =>
      ask('usual', { method: 'POST', path: `/repos/acme/rocket/issues/${index}/pin`, headers: ROOT })
    const replies = await Promise.all([1, 2, 3, 4, 5].map(pin))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [204, 204, 204, 400, 400])
  },

  'a client that goes away aborts the signal': async ({ port, base, leave }) => {
    const path = `${base}/waiting/api/orgs/acme/blocks`
    const outgoing = begin(port, { method: 'GET', path, headers: { authorization: 'token olga' } })
    outgoing.on('error', () => undefined)
    await reported(port, `${base}/waiting`, 'asked')
    leave(outgoing.socket)
    await reported(port, `${base}/waiting`, 'gone')
  },
}

/**
 * The edges of a server that answers on a port, below a base that names the storage.
 *
 * @param leave - goes away with a client's socket, so that the runtime notices
 */
export function edgeCases(port, kind, leave) {
  const base = `/${kind}`
  const ask = (world, asked) => send(port, { ...asked, path: `${base}/${world}/api${asked.path}` })
  return Object.entries(FACTS).map(([name, check]) => ({
    name: `${kind}: ${name}`,
    run: () => check({ ask, port, base, leave }),
  }))
}
