import type { ContractClient } from './client.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

const FIX = 'do not build a URL from the Host header before the handler, or catch the error'

/** Cases about the `Host` header. The server responds to any value and stays available. */
export const hostCases: readonly MountCase[] = [
  ...['', ':::', '[', 'a b', '%zz', 'git.example.com:99999', '\u00e9'].map((host) =>
    mountCase(`the Host header ${JSON.stringify(host)} causes no failure`, { fix: FIX }, (client) =>
      staysUp(client, host),
    ),
  ),

  mountCase('a request without a Host header causes no failure', { fix: FIX }, (client) => staysUp(client, [])),

  mountCase('a request with two Host headers causes no failure', { fix: FIX }, (client) =>
    staysUp(client, ['one.example.com', 'two.example.com']),
  ),
]

/**
 * Checks that a Host header causes no failure. Only a request that changes data is checked for its site, and therefore
 * reads the Host header, so this check sends one such request and one that only reads.
 */
async function staysUp(client: ContractClient, host: string | readonly string[]): Promise<void> {
  const { path, unsafe } = client.probe
  const read = await client.request({ path: path(UNKNOWN_NAME), headers: { Host: host } })
  read.mustBeNoFailure()
  if (unsafe !== undefined) {
    const sent = await client.request({ ...unsafe, headers: { Host: host, Origin: 'https://git.example.com' } })
    sent.mustBeNoFailure()
  }
  await client.mustStillAnswer()
}
