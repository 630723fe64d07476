import type { ServiceName } from '../../../http-adapters/http.ts'
import type { KnownHost, MountedHost } from '../known-host.ts'
import { Visit } from './visit.ts'

/** How long a case may take, in milliseconds: a server that hangs has failed. */
const LONGEST = 10_000

/** What must be known of a host, for a case to be in the list. */
export type Need = keyof Omit<KnownHost, 'services' | 'maxBodyBytes' | 'crossSite'>

/** One thing every mounting must do; `run` rejects when this one does not. */
export interface MountCase {
  /** A fact, in the present tense. */
  readonly name: string
  /** The parts of the known without which it cannot be run. */
  readonly needs: readonly Need[]
  /** The service that it asks; undefined: whichever is mounted. */
  readonly service: ServiceName | undefined
  run(start: () => Promise<MountedHost>, known: KnownHost): Promise<void>
}

/** What a case is, beside its fact and its check. */
export interface CaseFacts {
  readonly needs?: readonly Need[] | undefined
  readonly service?: ServiceName | undefined
  /** What to look at when it fails: told with the failure. */
  readonly mend: string
}

/** Makes a case of a fact and what checks it on one application that runs. */
export function mountCase(
  name: string,
  { needs = [], service, mend }: CaseFacts,
  check: (visit: Visit) => Promise<void>,
): MountCase {
  return {
    name,
    needs,
    service,
    async run(start, known) {
      const host = await start()
      const visit = new Visit(host, known, mend)
      try {
        await inTime(visit, check(visit))
      } finally {
        visit.end()
        await host.stop()
      }
    },
  }
}

async function inTime(visit: Visit, checked: Promise<void>): Promise<void> {
  let alarm: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    alarm = setTimeout(() => reject(visit.hangs(LONGEST)), LONGEST)
  })
  try {
    await Promise.race([checked, late])
  } finally {
    clearTimeout(alarm)
  }
}
