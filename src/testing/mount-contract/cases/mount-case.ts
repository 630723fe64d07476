import type { ServiceName } from '../../../http-adapters/http.ts'
import type { KnownHost, MountedHost } from '../known-host.ts'
import { ContractClient } from './client.ts'

/** How long a case may take, in milliseconds. A server that hangs fails the case. */
const MAX_CASE_MS = 10_000

/** The parts of the host that a case may need. */
export type Need = keyof Omit<KnownHost, 'services' | 'maxBodyBytes' | 'crossSite'>

/** The facts of a case, without its name and its check. */
export interface CaseFacts {
  /** The parts of the known host that the case requires. */
  readonly needs?: readonly Need[]
  /** The service that the case calls. Default: any mounted service. */
  readonly service?: ServiceName
  /** The advice to print if the case fails. */
  readonly fix: string
}

/** One requirement for every mounted API. `run` rejects if the API does not meet it. */
export interface MountCase extends CaseFacts {
  /** A statement in the present tense. */
  readonly name: string
  run(start: () => Promise<MountedHost>, known: KnownHost): Promise<void>
}

/** Creates a case from a statement and a check that runs against one application. */
export function mountCase(name: string, facts: CaseFacts, check: (client: ContractClient) => Promise<void>): MountCase {
  return {
    name,
    ...facts,
    async run(start, known) {
      const host = await start()
      const client = new ContractClient(host, known, facts.fix)
      try {
        await inTime(client, check(client))
      } finally {
        client.end()
        await host.stop()
      }
    },
  }
}

async function inTime(client: ContractClient, checked: Promise<void>): Promise<void> {
  let alarm: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    alarm = setTimeout(() => reject(client.hangs(MAX_CASE_MS)), MAX_CASE_MS)
  })
  try {
    await Promise.race([checked, late])
  } finally {
    clearTimeout(alarm)
  }
}
