import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'
import type { Visit } from './visit.ts'

const MEND = 'build no address from the Host header before the handler, or catch what that throws'

/** Cases about the `Host` header. The server responds to any value and stays available. */
export const hostCases: readonly MountCase[] = [
  ...['', ':::', '[', 'a b', '%zz', 'git.example.com:99999', '\u00e9'].map((host) =>
    mountCase(`the Host header ${JSON.stringify(host)} harms nobody`, { mend: MEND }, (visit) => staysUp(visit, host)),
  ),

  mountCase('a request without a Host header harms nobody', { mend: MEND }, (visit) => staysUp(visit, [])),

  mountCase('a request with two Host headers harms nobody', { mend: MEND }, (visit) =>
    staysUp(visit, ['one.example.com', 'two.example.com']),
  ),
]

/**
 * Checks that a Host header causes no failure. Only a request that changes data is checked for its site, and therefore
 * reads the Host header, so this check sends one such request and one that only reads.
 */
async function staysUp(visit: Visit, host: string | readonly string[]): Promise<void> {
  const { path, unsafe } = visit.probe
  const read = await visit.ask({ path: path(nobody), headers: { Host: host } })
  read.mustBeNoFailure()
  if (unsafe !== undefined) {
    const sent = await visit.ask({ ...unsafe, headers: { Host: host, Origin: 'https://git.example.com' } })
    sent.mustBeNoFailure()
  }
  await visit.mustLiveOn()
}
