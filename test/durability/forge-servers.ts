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

/** Starts processes of one forge. They end with the test, whatever becomes of it. */
export function startForgeServers(count: number, place: Place, maxPins: number): Promise<readonly ForgeServer[]> {
  return Promise.all(Array.from({ length: count }, () => startForgeServer(place, maxPins)))
}

async function startForgeServer({ kind, at }: Place, maxPins: number): Promise<ForgeServer> {
  const child = spawn(process.execPath, [scriptPath('forge-server.mjs'), kind, at, String(maxPins)], {
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
