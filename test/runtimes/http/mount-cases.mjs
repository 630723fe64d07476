// The published contract of mountings, over the servers of a runtime.
import { mountContract } from 'forgelet/testing'
import { reported } from './client.mjs'

/**
 * The contract for a server that answers on a port, below a base that names the storage.
 *
 * @param excepted - the names of cases that are left out
 */
export function mountCases(port, kind, excepted) {
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
