import type { Answer } from './answer.ts'
import type { ContractClient } from './client.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

const FIX = 'copy every line of every header: Set-Cookie lines are never joined'

/** Cases about the host's own headers. */
export const headerCases: readonly MountCase[] = [
  mountCase(
    'headers that the host sets on every response are present',
    { needs: ['headers'], fix: FIX },
    async (client) => {
      const path = client.probe.path(UNKNOWN_NAME)
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) hasAll(client, await client.request({ method, path }))
    },
  ),

  mountCase(
    'headers that the host sets on every response are on a list',
    { needs: ['headers', 'repository'], service: 'pins', fix: FIX },
    async (client) => {
      const answer = await client.request({ path: `/repos/${client.known.repository}/issues/pinned` })
      answer.mustBe(200)
      hasAll(client, answer)
    },
  ),

  mountCase('caches store no response', { fix: 'leave Cache-Control as the API sets it' }, async (client) => {
    const answer = await client.request({ path: client.probe.path(UNKNOWN_NAME) })
    answer.must(answer.lines('cache-control').join().includes('private'), 'a Cache-Control header with private')
  }),

  mountCase(
    'browsers do not guess the type of any response',
    { fix: 'leave X-Content-Type-Options as the API sets it' },
    async (client) => {
      const path = client.probe.path(UNKNOWN_NAME)
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) {
        const answer = await client.request({ method, path })
        const isSet = answer.lines('x-content-type-options').includes('nosniff')
        answer.must(isSet, 'an X-Content-Type-Options header: nosniff')
      }
    },
  ),
]

function hasAll({ known }: ContractClient, answer: Answer): void {
  for (const [name, value] of Object.entries(known.headers ?? {})) {
    const found = answer.lines(name.toLowerCase())
    for (const line of [value].flat()) {
      answer.must(found.includes(line), `a line ${name}: ${line} (its lines: ${JSON.stringify(found)})`)
    }
  }
}
