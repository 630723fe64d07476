import type { ContractClient } from './client.ts'
import type { CaseFacts, MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'
import type { RawRequest } from './request.ts'

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
/** More bytes than the buffers at both ends of a connection hold together. */
const MORE = 6_000_000
/** The size of one record, in bytes. It is much smaller than any limit. */
const RECORD = 10_000
/** The number of the first issue: higher than those of most repositories. */
const FIRST_NUMBER = 900_000_001

/** Cases about issues that are exported and imported as streams. Imports are dry runs. */
export const exchangeCases: readonly MountCase[] = [
  mountCase('an export arrives whole, and the connection stays usable', EXPORT, async (client) => {
    const [answer, next] = await client.pipeline([exporting(client), { path: client.probe.path(UNKNOWN_NAME) }])
    answer?.mustBe(200)
    answer?.must(isDocument(answer.body), 'a whole list in JSON, with a newline at its end')
    next?.mustRefuse(client.probe.status, client.probe.code)
  }),

  mountCase('HEAD of an export has no body', EXPORT, async (client) => {
    const head = { ...exporting(client), method: 'HEAD' }
    const [answer, next] = await client.pipeline([head, { path: client.probe.path(UNKNOWN_NAME) }])
    answer?.mustBe(200)
    next?.mustRefuse(client.probe.status, client.probe.code)
  }),

  mountCase('a client that disconnects during an export disturbs no one', EXPORT, async (client) => {
    await client.requestAndDisconnect(exporting(client), async () => undefined)
    await client.mustStillAnswer()
  }),

  ...(['length', 'chunked'] as const).map((framing) =>
    mountCase(`an import is read (${framing}), and the connection stays usable`, IMPORT, async (client) => {
      const long = { ...importing(client, documentOf(50_000)), framing }
      const [answer, next] = await client.pipeline([long, { path: client.probe.path(UNKNOWN_NAME) }])
      answer?.mustBe(200)
      answer?.must(answer.json['dry_run'] === true, 'the report of a dry run')
      next?.mustRefuse(client.probe.status, client.probe.code)
    }),
  ),

  ...[['', { 'Content-Encoding': 'gzip' }] as const, [', also if no header says so', {}] as const].map(([how, more]) =>
    mountCase(`an import that is compressed with gzip is read${how}`, IMPORT, async (client) => {
      const { headers, ...request } = importing(client, await gzipped(documentOf(50_000)))
      const answer = await client.request({ ...request, headers: { ...headers, ...more } })
      answer.mustBe(200)
    }),
  ),

  mountCase('a document that is not valid is 422', IMPORT, async (client) => {
    const answer = await client.request(importing(client, '[7]'))
    answer.mustRefuse(422, 'INVALID_DOCUMENT')
  }),

  mountCase('a client that disconnects during an import disturbs no one', IMPORT, async (client) => {
    const { body: _none, ...request } = importing(client, '')
    await client.requestAndDisconnect({ ...request, framing: 'never' }, async () => undefined)
    await client.mustStillAnswer()
  }),

  ...(['length', 'chunked'] as const).map((framing) =>
    mountCase(`an import over the limit (${framing}) is 413`, TOO_LONG, async (client) => {
      const answer = await client.request({ ...importing(client, documentOf(limitOf(client) + MORE)), framing })
      answer.mustRefuse(413, 'BODY_TOO_LARGE')
      await client.mustStillAnswer()
    }),
  ),

  mountCase('an import over the limit is 413, also if it is compressed', TOO_LONG, async (client) => {
    const whole = await client.request(importing(client, await gzipped(documentOf(limitOf(client)))))
    whole.mustBe(200)
    const more = await client.request(importing(client, await gzipped(documentOf(limitOf(client) + 1))))
    more.mustRefuse(413, 'BODY_TOO_LARGE')
  }),
]

function limitOf({ known }: ContractClient): number {
  return known.maxImportBytes ?? 0
}

function exporting({ known, credentials }: ContractClient): RawRequest {
  return { path: `/repos/${known.repository}/issues/export`, headers: credentials }
}

/** Returns a document of this size, which has issues with numbers of their own. */
function documentOf(size: number): string {
  const records: string[] = []
  for (let number = FIRST_NUMBER; (records.length + 1) * RECORD < size; number += 1) {
    records.push(JSON.stringify(issue(number)).padEnd(RECORD - 1))
  }
  return `[${records.join(',')}]`.padEnd(size)
}

function issue(number: number): object {
  const time = '2026-01-02T03:04:05Z'
  const content = 'x'.repeat(RECORD / 2)
  return {
    number,
    poster_id: 1,
    poster_name: UNKNOWN_NAME,
    title: 'A dry run',
    content,
    state: 'open',
    is_locked: false,
    created: time,
    updated: time,
  }
}

/** Returns a request that imports nothing, as a dry run. */
function importing({ known, credentials }: ContractClient, body: string | Uint8Array): RawRequest {
  return {
    method: 'POST',
    path: `/repos/${known.repository}/issues/import?dry_run=true`,
    headers: { ...credentials, 'Content-Type': 'application/json' },
    body,
  }
}

function isDocument(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text)) && text.endsWith(']\n')
  } catch {
    return false
  }
}

async function gzipped(text: string): Promise<Uint8Array> {
  const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(compressed).arrayBuffer())
}
