import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openKnownWorld } from '../testing/known-world.ts'
import { hosts } from './hosts.ts'

// A server of one host, in a process of its own, which reports on request what it holds: a program, not a module.

/** What the process holds. */
export interface Holdings {
  /** Connections that are open. */
  readonly sockets: number
  /** Timers that are set. */
  readonly timers: number
  /** Bytes on the heap and beside it that cannot be collected. */
  readonly kept: number
  /** The most of these bytes at once, since the process was asked to watch them. */
  readonly peak: number
}

const [, , name = ''] = process.argv
const host = hosts.find((one) => one.name === name)
if (host === undefined) throw new TypeError(`no host is named ${name}`)

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')
const { world } = openKnownWorld({ limits: { maxBodyBytes: 50_000 } })
const { origin } = await host.start(() => world.api, { prefix: '/a/b' })
let watch: NodeJS.Timeout | undefined
let peak = 0
process.on('message', (request) => {
  clearInterval(watch)
  if (request === 'watch') {
    peak = 0
    watch = setInterval(kept, 5)
  }
  process.send?.(holdings())
})
process.on('disconnect', () => process.exit())
process.send?.({ origin })

function holdings(): Holdings {
  const now = kept()
  const resources = process.getActiveResourcesInfo()
  return {
    sockets: resources.filter((resource) => resource === 'TCPSocketWrap').length,
    timers: resources.filter((resource) => resource === 'Timeout').length,
    kept: now,
    peak,
  }
}

/** Collects first: what is only not collected yet says how busy the machine is. */
function kept(): number {
  if (typeof collect === 'function') collect()
  const { heapUsed, external } = process.memoryUsage()
  const bytes = heapUsed + external
  peak = Math.max(peak, bytes)
  return bytes
}
