import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openKnownWorld } from '../../testing/mounts/known-world.ts'
import { hosts } from '../hosts/hosts.ts'
import { authenticate } from '../world.ts'

// A server of one host, in a process of its own, which reports on request what it holds: a program, not a module.

/** What the process holds. */
export interface Holdings {
  /** Connections that are open. */
  readonly sockets: number
  /** Timers that are set. */
  readonly timers: number
  /** Bytes on the heap and beside it that cannot be collected. */
  readonly kept: number
  /** Bytes in memory now. */
  readonly resident: number
  /** Most bytes in memory at once, since the process began. */
  readonly peak: number
}

const [, , name = ''] = process.argv
const host = hosts.find((one) => one.name === name)
if (host === undefined) throw new TypeError(`no host is named ${name}`)

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')
const { world } = openKnownWorld({ limits: { maxBodyBytes: 50_000 } })
const { origin } = await host.start(() => ({ api: world.api, authenticate }), { prefix: '/a/b' })
process.on('message', () => process.send?.(holdings()))
process.on('disconnect', () => process.exit())
process.send?.({ origin })

function holdings(): Holdings {
  if (typeof collect === 'function') collect()
  const resources = process.getActiveResourcesInfo()
  const { heapUsed, external, rss } = process.memoryUsage()
  return {
    sockets: resources.filter((resource) => resource === 'TCPSocketWrap').length,
    timers: resources.filter((resource) => resource === 'Timeout').length,
    kept: heapUsed + external,
    resident: rss,
    peak: process.resourceUsage().maxRSS * 1024,
  }
}
