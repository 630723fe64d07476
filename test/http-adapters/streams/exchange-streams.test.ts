import { describe, expect, it, onTestFinished } from 'vitest'
import type { ObservedRequest } from '../../../src/http-adapters/http.ts'
import { deferred } from '../../deferred.ts'
import type { World, WorldOptions } from '../../world.ts'
import { issueRecord, openWorld, worldIssues } from '../../world.ts'
import { carriers } from '../hosts.ts'

const EXPORT = '/a/b/repos/acme/rocket/issues/export'
const IMPORT = '/a/b/repos/acme/rocket/issues/import'
const ADA = { authorization: 'token ada' }

describe.each(carriers)('over $name', (host) => {
  async function serve(options: WorldOptions): Promise<{ readonly world: World; readonly origin: string }> {
    const world = openWorld(options)
    const server = await host.start(() => world.api, { prefix: '/a/b' })
    onTestFinished(() => server.stop())
    return { world, origin: server.origin }
  }

  // One that disconnects later: 'is ended when the client disconnects' in streams.test.ts.
  it('an export whose client disconnects before its first page makes room for another', async () => {
    const reached = deferred()
    const gone = deferred()
    const tracker = worldIssues()
    const issues: typeof tracker = {
      ...tracker,
      async issues(query, context) {
        context.signal?.addEventListener('abort', () => gone.resolve())
        reached.resolve()
        await gone.promise
        return tracker.issues(query, context)
      },
    }
    const { world, origin } = await serve({ issues, limits: { maxExports: 1 } })
    const client = new AbortController()
    const answered = fetch(`${origin}${EXPORT}`, { signal: client.signal })
    await reached.promise
    expect((await fetch(`${origin}${EXPORT}`)).status).toBe(503)
    client.abort()
    await answered.catch(() => undefined)

    await expect.poll(async () => (await fetch(`${origin}${EXPORT}`)).status).toBe(200)
    expect(world.logged.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('an import whose client disconnects writes nothing more, is no error, and makes room for another', async () => {
    const first = deferred()
    const over = deferred<boolean>()
    const writes: number[] = []
    const tracker = worldIssues()
    const issues: typeof tracker = {
      ...tracker,
      write(batch, context) {
        writes.push(...batch.create.map(({ record }) => record.number))
        first.resolve()
        return tracker.write(batch, context)
      },
    }
    const observer = {
      request: ({ operationId, aborted }: ObservedRequest) => {
        if (operationId === 'repoImportIssues') over.resolve(aborted)
      },
    }
    const { world, origin } = await serve({ issues, observer, limits: { maxImports: 1 } })
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
    const next = await fetch(`${origin}${IMPORT}`, { method: 'POST', headers: ADA, body: '[]' })
    expect(next.status).toBe(200)
    expect(world.logged.filter(({ level }) => level === 'error')).toEqual([])
  })
})
