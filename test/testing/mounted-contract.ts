import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceName } from '../../src/http-adapters/http.ts'
import type { KnownHost } from '../../src/testing/testing.ts'
import { mountContract } from '../../src/testing/testing.ts'
import type { Host, Mounting, Running } from '../http-adapters/hosts/host.ts'
import { HOST_HEADERS } from '../http-adapters/hosts/host.ts'
import { authenticate } from '../http-adapters/world.ts'
import { exceptions } from './mounts/exceptions.ts'
import { openKnownWorld } from './mounts/known-world.ts'

const isLong = process.env['FORGELET_TEST_LONG'] === '1'

/**
 * Runs the mount contract over a host, mounted in one way.
 *
 * @param services - the services that are mounted; all of them when none is given
 */
export function mountedContract(host: Host, mounting: Mounting, services?: readonly ServiceName[]): void {
  const only = services === undefined ? '' : `, with the service ${services.join()} alone`
  describe(`the contract over ${host.name}, ${inWords(mounting)}${only}`, () => {
    const { prefix } = mounting
    // Half of the worlds say where they are.
    const { world, known } = openKnownWorld({
      limits: { maxBodyBytes: 50_000, maxImportBytes: 400_000 },
      publicUrl: prefix === '' ? undefined : 'https://git.example.com/api/v1',
      services,
    })
    let running: Running
    beforeAll(async () => {
      running = await host.start(() => ({ api: world.api, authenticate }), mounting)
    })
    afterAll(() => running.stop())

    const start = async () => ({ origin: running.origin, prefix, stop: async () => undefined })
    const excepted = exceptions(host, mounting)
    for (const { name, run } of mountContract(start, { ...known, ...knownOf(host, prefix), services })) {
      const exception = excepted.find((one) => one.name === name)
      if (exception === undefined) test(name, run)
      else if (exception.hangs !== true || (isLong && prefix === '')) {
        test(`${name}: not here, since ${exception.reason}`, async () => {
          const failure = await run().catch((error: unknown) => error)
          expect(failure).toMatchObject({ name: 'AssertionError', message: expect.stringContaining('fix: ') })
        })
      }
    }
  })
}

function knownOf({ letsPass }: Host, prefix: string): KnownHost {
  const paths = ['/elsewhere?x=1&y=%2F+', `${prefix}/`, `${prefix}/?x=1&y=%2F`, `${prefix}/users/stan?x=1`]
  const below = prefix === '' ? [] : [`${prefix}?x=1&y=%2F`, prefix, `${prefix}c/repos/acme/rocket/issues/pinned`]
  const elsewhere = [...paths, ...below].map((path) => ({ path, text: `the host: ${path}` }))
  return { headers: HOST_HEADERS, elsewhere: letsPass ? elsewhere : undefined }
}

function inWords({ prefix, before, behind }: Mounting): string {
  const where = prefix === '' ? 'at the root' : `under ${prefix}`
  if (before !== undefined) return `${where}, behind the parser ${before}`
  return behind === undefined ? where : `${where}, before the parser ${behind}`
}
