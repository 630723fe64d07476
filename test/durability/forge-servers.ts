import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { exitOf, scriptPath } from './child-process.ts'
import type { Place } from './forge-databases.ts'

/** One process of a forge, serving. */
export interface ForgeServer {
  readonly url: string
  /** Whether the process that was started still runs. */
  isRunning(): boolean
  /** Lets it end; gives its exit code, null when it was killed. */
  end(): Promise<number | null>
}

/** How the processes of a forge are set up. */
export interface ForgeSetup {
  /** The most pins on a board. */
  readonly maxPins: number
  /** Whether the database will be away, so that it is not reported. */
  readonly hasOutages: boolean
}

/** Starts processes of one forge. They end with the test, whatever becomes of it. */
export function startForgeServers(count: number, place: Place, setup: ForgeSetup): Promise<readonly ForgeServer[]> {
  return Promise.all(Array.from({ length: count }, () => startForgeServer(place, setup)))
}

async function startForgeServer({ kind, at }: Place, setup: ForgeSetup): Promise<ForgeServer> {
  const args = [kind, at, String(setup.maxPins), String(setup.hasOutages)]
  const child = spawn(process.execPath, [scriptPath('forge-server.mjs'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exitOf(child)])
  if (typeof url !== 'string') throw new Error('a forge ended before it served')

  return {
    url,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async end() {
      child.stdin.end()
      const [code] = await exitOf(child)
      return code
    },
  }
}
