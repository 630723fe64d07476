import type { ContractClient, MountRequest } from './client.ts'
import { FRAMINGS, MORE, TOO_LARGE } from './client.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

const EXPORT: CaseFacts = {
  needs: ['repository'],
  service: 'exchange',
  fix: 'pass on the pieces of a response as they come: nothing may shorten, collect or rewrite them',
}
const IMPORT: CaseFacts = {
  needs: ['authorization', 'repository'],
  service: 'exchange',
  fix: 'mount the API before body parsers, and pass on the bytes of a body as they come, whatever its length and compression',
}
const TOO_LONG: CaseFacts = { ...IMPORT, needs: ['authorization', 'repository', 'maxImportBytes'] }
/** The size of one record, in bytes. It is much smaller than any limit. */
const RECORD = 10_000
const DESCRIBED = ['services', 'authorization', 'repository', 'maxImportBytes'] as const
/** The number of the first issue: higher than those of most repositories. */
const FIRST_NUMBER = 900_000_001

/** Cases about issues that are exported and imported as streams. Imports are dry runs. */
export const exchangeCases: readonly MountCase[] = [
  mountCase(
    'an export arrives whole, HEAD without its body, and the connection stays usable',
    EXPORT,
    async (client) => {
      const answer = await client.requestAndGoOn(exporting(client), 200)
      answer.must(/^\[.*\]\n$/s.test(answer.body), 'a whole list in JSON, with a newline at its end')
      await client.requestAndGoOn({ ...exporting(client), method: 'HEAD' }, 200)
    },
  ),

  mountCase('an import is read in any framing, and the connection stays usable', IMPORT, async (client) => {
    for (const framing of FRAMINGS) {
      const answer = await client.requestAndGoOn({ ...importing(client, documentOf(50_000)), framing }, 200)
      answer.must(answer.json['dry_run'] === true, 'the report of a dry run')
    }
  }),

  ...[['', { 'Content-Encoding': 'gzip' }] as const, [', also if no header says so', {}] as const].map(([how, more]) =>
    mountCase(`an import that is compressed with gzip is read${how}`, IMPORT, async (client) => {
      const { headers, ...request } = importing(client, await gzipped(documentOf(50_000)))
      await client.request({ ...request, headers: { ...headers, ...more } }, 200)
    }),
  ),

  mountCase('a document that is not valid is 422', IMPORT, async (client) => {
    await client.mustRefuse([importing(client, '[7]')], { status: 422, code: 'INVALID_DOCUMENT' })
  }),

  mountCase('a client that disconnects during an export or an import disturbs no one', IMPORT, async (client) => {
    const requests: readonly MountRequest[] = [exporting(client), { ...importing(client, ''), framing: 'unfinished' }]
    for (const request of requests) {
      await client.requestAndDisconnect(request, async () => undefined)
      await client.mustStillAnswer()
    }
  }),

  mountCase('an import over the limit is 413', TOO_LONG, async (client) => {
    const long = importing(client, documentOf(limitOf(client) + MORE))
    const requests = FRAMINGS.map((framing) => ({ ...long, framing }))
    await client.mustRefuse(requests, TOO_LARGE)
    await client.mustStillAnswer()
  }),

  mountCase('an import over the limit is 413, also if it is compressed', TOO_LONG, async (client) => {
    await client.request(importing(client, await gzipped(documentOf(limitOf(client)))), 200)
    await client.mustRefuse([importing(client, await gzipped(documentOf(limitOf(client) + 1)))], TOO_LARGE)
  }),
]

function limitOf({ known }: ContractClient): number {
  return known.maxImportBytes ?? 0
}

function exporting({ known, credentials }: ContractClient): MountRequest {
  return { path: `/repos/${known.repository}/issues/export`, headers: credentials, describedBy: DESCRIBED }
}

/** Returns a document of this size, which has issues with numbers of their own. */
function documentOf(size: number): string {
  const issue = { poster_id: 1, poster_name: UNKNOWN_NAME, title: 'A dry run', content: 'x'.repeat(RECORD / 2) }
  const rest = { state: 'open', is_locked: false, created: '2026-01-02T03:04:05Z', updated: '2026-01-02T03:04:05Z' }
  const records: string[] = []
  for (let number = FIRST_NUMBER; (records.length + 1) * RECORD < size; number += 1) {
    records.push(JSON.stringify({ number, ...issue, ...rest }).padEnd(RECORD - 1))
  }
  return `[${records.join(',')}]`.padEnd(size)
}

/** Returns a request that imports nothing, as a dry run. */
function importing({ known, credentials }: ContractClient, body: string | Uint8Array): MountRequest {
  return {
    method: 'POST',
    path: `/repos/${known.repository}/issues/import?dry_run=true`,
    headers: { ...credentials, 'Content-Type': 'application/json' },
    body,
    describedBy: DESCRIBED,
  }
}

async function gzipped(text: string): Promise<Uint8Array> {
  const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(compressed).arrayBuffer())
}
