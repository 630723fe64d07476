import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ObservedRequest } from '../../../src/http-adapters/http.ts'
import type { IssueTracker } from '../../../src/index.ts'
import { hosts } from '../hosts/hosts.ts'
import { deferred } from '../node/serve.ts'
import type { Person, World, WorldOptions } from '../world.ts'
import { authenticate, openWorld } from '../world.ts'
import { issueRecord, worldIssues } from '../world-issues.ts'

const EXPORT = '/a/b/repos/acme/rocket/issues/export'
const IMPORT = '/a/b/repos/acme/rocket/issues/import'
const ADA = { authorization: 'token ada' }

/** Issues without end, in pages; each has 10 kB. What is asked first decides about a page. */
function endless(before: (page: number, signal: AbortSignal | undefined) => void): IssueTracker<Person, undefined> {
  let page = 0
  return {
    ...worldIssues(() => true),
    issues(query, { signal }) {
      page += 1
      before(page, signal)
      if (!('after' in query)) return []
      const content = 'x'.repeat(10_000)
      return Array.from({ length: query.limit }, (_, at) => issueRecord(query.after + at + 1, { content }))
    },
  }
}

// One host of each kind of adapter: what differs between frameworks is tested with streams of bytes.
describe.each(hosts.filter(({ name }) => ['node:http', 'Express 5', 'Fetch'].includes(name)))('over $name', (host) => {
  async function serve(options: WorldOptions): Promise<{ readonly world: World; readonly origin: string }> {
    const world = openWorld(options)
    const server = await host.start(() => ({ api: world.api, authenticate }), { prefix: '/a/b' })
    onTestFinished(() => server.stop())
    return { world, origin: server.origin }
  }

  it('an export that fails at its first page is an error response', async () => {
    const issues = endless(() => {
      throw new Error('secret')
    })
    const { world, origin } = await serve({ issues })
    const answer = await fetch(`${origin}${EXPORT}`)

    expect([answer.status, await answer.json()]).toMatchObject([500, { code: 'INTERNAL' }])
    expect(world.logged).toHaveLength(1)
  })

  it('an export that fails at a later page is cut off', async () => {
    const quiet = vi.spyOn(console, 'error').mockReturnValue(undefined) // what @hono/node-server prints
    onTestFinished(() => void quiet.mockRestore())
    const issues = endless((page) => {
      if (page > 2) throw new Error('secret')
    })
    const { world, origin } = await serve({ issues })
    const answer = await fetch(`${origin}${EXPORT}`)
      .then((response) => response.text())
      .catch((error: unknown) => error)

    expect(answer).toBeInstanceOf(TypeError)
    expect(world.logged).toMatchObject([{ fields: { error: { message: 'secret' } } }])
  })

  it('an export whose client disconnects reads no further page, and is not logged', async () => {
    const quiet = vi.spyOn(console, 'info').mockReturnValue(undefined)
    onTestFinished(() => void quiet.mockRestore())
    const gone = deferred<undefined>()
    let pages = 0
    const issues = endless((page, signal) => {
      pages = page
      signal?.addEventListener('abort', () => gone.resolve(undefined))
    })
    const { world, origin } = await serve({ issues })
    const client = new AbortController()
    const answer = await fetch(`${origin}${EXPORT}`, { signal: client.signal })
    await answer.body?.getReader().read()
    client.abort()
    await gone.promise
    const seen = pages

    expect((await fetch(`${origin}/a/b/repos/acme/rocket/issues/pinned`)).status).toBe(200)
    expect(pages - seen).toBeLessThan(2)
    expect(world.logged).toEqual([])
  })

  it('a gzip bomb is 413 as soon as it is too long', async () => {
    const { world, origin } = await serve({ limits: { maxImportBytes: 2_000_000 } })
    const records = Array.from({ length: 100_000 }, (_, at) => JSON.stringify(issueRecord(at + 10)))
    const body = gzipSync(`[${records.join()}]`)
    const before = process.memoryUsage.rss()
    const answer = await fetch(`${origin}${IMPORT}?dry_run=true`, { method: 'POST', body, headers: ADA })

    expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'BODY_TOO_LARGE' }])
    expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000)
    expect(world.logged).toEqual([])
  })

  it('a body that gzip has compressed twice is not a document', async () => {
    const { origin } = await serve({ limits: { maxImportBytes: 2_000_000 } })
    const body = gzipSync(gzipSync('[]'))
    const answer = await fetch(`${origin}${IMPORT}`, { method: 'POST', body, headers: ADA })

    expect([answer.status, await answer.json()]).toMatchObject([422, { code: 'INVALID_DOCUMENT' }])
  })

  it('what an export gives, an import takes', async () => {
    const { origin } = await serve({})
    const text = await (await fetch(`${origin}${EXPORT}`, { headers: ADA })).text()
    const answer = await fetch(`${origin}${IMPORT}`, { method: 'POST', body: gzipSync(text), headers: ADA })

    expect(await answer.json()).toMatchObject({ dry_run: false, issues: { created: 0, unchanged: 5 } })
  })

  it('an import whose client disconnects writes nothing more, and is not logged', async () => {
    const first = deferred<undefined>()
    const over = deferred<boolean>()
    const writes: number[] = []
    const tracker = worldIssues(() => true)
    const issues: typeof tracker = {
      ...tracker,
      write(batch, context) {
        writes.push(...batch.create.map(({ record }) => record.number))
        first.resolve(undefined)
        return tracker.write(batch, context)
      },
    }
    const observer = {
      request: ({ operationId, aborted }: ObservedRequest) => {
        if (operationId === 'repoImportIssues') over.resolve(aborted)
      },
    }
    const { world, origin } = await serve({ issues, observer })
    const client = new AbortController()
    async function* body(): AsyncGenerator<Uint8Array, void, void> {
      const encoder = new TextEncoder()
      yield encoder.encode('[')
      for (let number = 10; number < 2010; number += 1) {
        yield encoder.encode(`${JSON.stringify(issueRecord(number))},`)
      }
      await over.promise
    }
    const sent = fetch(`${origin}${IMPORT}`, {
      method: 'POST',
      headers: ADA,
      body: ReadableStream.from(body()),
      duplex: 'half',
      signal: client.signal,
    })
    await first.promise
    client.abort()
    await sent.catch(() => undefined)

    expect(await over.promise).toBe(true)
    const text = await (await fetch(`${origin}${EXPORT}`, { headers: ADA })).text()
    expect(JSON.parse(text)).toHaveLength(5 + writes.length)
    expect(world.logged).toEqual([])
  })
})
