import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import issueSchema from '../../../schema/issue.json' with { type: 'json' }
import openapi from '../../../schema/openapi.json' with { type: 'json' }
import { issueDocuments } from '../../../src/exchange/exchange.ts'
import type { Api } from '../../../src/http-adapters/http.ts'
import { createApi } from '../../../src/http-adapters/http.ts'
import type { IssueTracker } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import { deferred } from '../../deferred.ts'
import { FOLDERS } from '../../exchange/forges/samples.ts'
import type { Person, WorldOptions } from '../../world.ts'
import { authenticate, directory, issueRecord, openWorld, people, present, worldIssues } from '../../world.ts'
import { plainRequest, readText } from '../dispatch.ts'

const EXPORT = '/repos/acme/rocket/issues/export'
const IMPORT = '/repos/acme/rocket/issues/import'

/** Collects garbage until an export or an import finds room. */
async function expectRoom(statusOf: () => Promise<number | undefined>): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  await expect
    .poll(() => {
      collect()
      return statusOf()
    })
    .toBe(200)
}

describe('the routes of the exchange', () => {
  it('are not there without documents, and their paths are passed on', async () => {
    const { api } = openWorld({ documents: undefined })

    expect(await api.dispatch(plainRequest({ path: EXPORT }), () => null)).toBeUndefined()
    expect(await api.dispatch(plainRequest({ method: 'POST', path: IMPORT }), () => null)).toBeUndefined()
    expect(Object.keys(api.openApi().paths)).not.toContain('/repos/{owner}/{repo}/issues/export')
  })

  it.each<[string, WorldOptions]>([
    ['the service without documents', { services: ['exchange'], documents: undefined }],
    ['documents that cannot read', { documents: { write: issueDocuments.write } as never }],
  ])('are refused with %s', (_what, options) => {
    expect(() => openWorld(options)).toThrow('createApi needs documents')
  })

  it('are refused if the forge has no issues', () => {
    const forge = createForge<Person, undefined>({
      storage: memoryStorage(),
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
    })

    expect(() => createApi(forge, { directory, present, documents: issueDocuments })).toThrow('needs issues')
    expect(() => createApi(forge, { directory, present })).not.toThrow()
  })

  it.each([
    ['the first', 1, 0],
    ['one in the middle of the stream', 300, 200],
  ])('answer for an invalid record of the host as for its failure: %s', async (_what, wrong, status) => {
    const issues: Partial<IssueTracker<Person>> = {
      issues: (query) => {
        const { after, limit } = { after: 0, limit: 1, ...query }
        const numbers = Array.from(
          { length: Math.max(0, Math.min(limit, 400 - after)) },
          (_, index) => after + index + 1,
        )
        return numbers.map((number) => {
          const issue = { ...issueRecord(number), content: 'x'.repeat(1000) }
          return number === wrong ? { ...issue, poster_id: undefined as never } : issue
        })
      },
    }
    const { api, logged } = openWorld({ issues: { ...worldIssues(), ...issues } })
    const reply = await api.dispatch(plainRequest({ path: EXPORT }), () => people[0] ?? null)
    const request = plainRequest({ path: EXPORT })
    if (status === 200) {
      await expect(readText(reply).catch((error) => Promise.reject(api.failed(request, error)))).rejects.toMatchObject({
        status: 500,
      })
    } else expect(reply).toMatchObject({ status: 500, body: expect.stringContaining('"requestId":"request-1"') })

    const message = expect.stringContaining(`issue ${wrong}, which is not valid`)
    expect(logged).toMatchObject([{ level: 'error', fields: { requestId: 'request-1', error: { message } } }])
  })

  it('report once, by its name, what the source and the host have no place for', async () => {
    const { api } = openWorld() // its tracker has no comments
    const tracker = JSON.parse(FOLDERS.bitbucket['db-2.0.json'] ?? '')
    const texts = tracker.comments.filter(({ content }: { content: string | null }) => content).length
    const comments = [...tracker.comments, { ...tracker.comments[0], id: 999, issue: 999, content: 'On no issue.' }]
    const body = JSON.stringify({ ...tracker, comments })
    const request = plainRequest({ method: 'POST', path: IMPORT, query: 'on_conflict=update', body })
    const reply = await api.dispatch(request, () => people[0] ?? null)
    const { not_carried }: { not_carried: { what: string; count: number }[] } = JSON.parse(await readText(reply))

    const pointer = `/0/comments/${tracker.comments.length}`
    expect(not_carried.filter(({ what }) => what === 'comments')).toEqual([
      { what: 'comments', count: texts + 1, pointer },
    ])
    expect(not_carried.map(({ what }) => what).sort()).toEqual([
      'attachment',
      'comments',
      'edited_on',
      'log',
      'voters',
      'watchers',
    ])
  })

  it('describe an issue as its published schema does', () => {
    const { IssueRecord: described } = openapi.components.schemas

    expect(Object.keys(described.properties)).toEqual(Object.keys(issueSchema.items.properties))
    expect(described.required).toEqual(issueSchema.items.required)
  })
})

describe('the exports of an API', () => {
  const exporting = (api: Api<Person>, person: Person | null = null, method = 'GET') =>
    api.dispatch(plainRequest({ method, path: EXPORT }), () => person)
  const begin = async (api: Api<Person>): Promise<AsyncIterator<Uint8Array>> => {
    const reply = await exporting(api)
    if (typeof reply?.body !== 'object') throw new TypeError('the reply is not streamed')
    return reply.body[Symbol.asyncIterator]()
  }
  const statusOf = async (api: Api<Person>) => {
    const reply = await exporting(api)
    await readText(reply)
    return reply?.status
  }

  it('are at most eight at once, and one more is told to try again', async () => {
    const { api, logged } = openWorld()
    const running = await Promise.all(Array.from({ length: 8 }, () => begin(api)))
    const reply = await exporting(api)

    expect(reply).toMatchObject({ status: 503, headers: expect.arrayContaining([['Retry-After', '5']]) })
    expect(JSON.parse(await readText(reply))).toEqual({
      code: 'EXCHANGE_BUSY',
      message: 'too many exports are running, try again',
      url: '',
    })
    expect(logged).toEqual([])
    expect(await statusOf(openWorld().api)).toBe(200)
    await Promise.all(running.map((one) => one.return?.()))
    expect(await statusOf(api)).toBe(200)
  })

  it('make room when one was sent, or is no longer wanted, and a HEAD keeps none', async () => {
    const { api } = openWorld({ limits: { maxExports: 1 } })
    const unwanted = await begin(api)
    expect(await statusOf(api)).toBe(503)
    await unwanted.return?.()

    expect(await statusOf(api)).toBe(200)
    expect(await exporting(api, null, 'HEAD')).toMatchObject({ status: 200 })
    await expect.poll(() => statusOf(api)).toBe(200)
    const half = await begin(api)
    await half.next()
    await half.return?.()
    expect(await statusOf(api)).toBe(200)
  })

  it.each([1, 2])('make room when one fails at its page %i', async (page) => {
    let asked = 0
    const issues: IssueTracker<Person, undefined> = {
      ...worldIssues(),
      issues(query) {
        asked += 1
        if (asked === page) throw new Error('secret')
        return 'after' in query && query.after === 0 ? [issueRecord(1, { content: 'x'.repeat(40_000) })] : []
      },
    }
    const { api } = openWorld({ issues, limits: { maxExports: 1 } })
    const failed = await exporting(api)
    if (page === 1) expect(failed?.status).toBe(500)
    else await expect(readText(failed)).rejects.toThrow('secret')

    expect(await statusOf(api)).toBe(200)
  })

  // Workers never go on with a request whose client has disconnected.
  it('make room when one that waits for what never comes is garbage', async () => {
    const tracker = worldIssues()
    let isStuck = true
    const issues: typeof tracker = {
      ...tracker,
      issues: (query, context) => (isStuck ? new Promise(() => undefined) : tracker.issues(query, context)),
    }
    const { api } = openWorld({ issues, limits: { maxExports: 1 } })
    void exporting(api)
    await expect.poll(() => statusOf(api)).toBe(503)
    isStuck = false

    await expectRoom(() => statusOf(api))
  })

  it('keep no room for a caller who may not read, who does not learn whether there is room', async () => {
    const { api } = openWorld({ limits: { maxExports: 1 } })
    const hidden = () => api.dispatch(plainRequest({ path: '/repos/acme/secret/issues/export' }), () => null)
    expect(await hidden()).toMatchObject({ status: 404 })
    await begin(api)

    expect(await hidden()).toMatchObject({ status: 404 })
  })
})

describe('the imports of an API', () => {
  const ada = authenticate('token ada')

  /** An import whose body ends when the test says so. */
  function slow(api: Api<Person>, ending: Promise<string>, query = '') {
    let isAsked = false
    const stream = async function* (): AsyncGenerator<Uint8Array, void, void> {
      yield new TextEncoder().encode('[')
      yield new TextEncoder().encode(`${await ending}]`)
    }
    const request = {
      ...plainRequest({ method: 'POST', path: IMPORT, query }),
      stream: () => {
        isAsked = true
        return stream()
      },
    }
    const reply = Promise.resolve(api.dispatch(request, () => ada))
    return { reply, isAsked: () => isAsked }
  }

  it('are at most four at once, dry runs too, and one more is refused before its body is read', async () => {
    const { api } = openWorld()
    const ending = deferred<string>()
    const running = [1, 2, 3, 4].map((at) => slow(api, ending.promise, at === 1 ? 'dry_run=true' : ''))
    await expect.poll(() => running.every(({ isAsked }) => isAsked())).toBe(true)
    const more = slow(api, ending.promise)
    const reply = await more.reply

    expect(reply).toMatchObject({ status: 503, headers: expect.arrayContaining([['Retry-After', '5']]) })
    expect(JSON.parse(await readText(reply))).toMatchObject({
      code: 'EXCHANGE_BUSY',
      message: 'too many imports are running, try again',
    })
    expect(more.isAsked()).toBe(false)
    ending.resolve('')
    expect((await Promise.all(running.map((one) => one.reply))).map((answer) => answer?.status)).toEqual([
      200, 200, 200, 200,
    ])
    expect(await slow(api, ending.promise).reply).toMatchObject({ status: 200 })
  })

  it.each([
    ['is done', '', 200],
    ['is not valid', '{}', 422],
  ])('make room when one %s', async (_how, rest, status) => {
    const { api } = openWorld({ limits: { maxImports: 1 } })
    const ending = deferred<string>()
    const first = slow(api, ending.promise)
    await expect.poll(() => first.isAsked()).toBe(true)
    expect(await slow(api, ending.promise).reply).toMatchObject({ status: 503 })
    ending.resolve(rest)

    expect(await first.reply).toMatchObject({ status })
    expect(await slow(api, Promise.resolve('')).reply).toMatchObject({ status: 200 })
  })

  it('make room when one whose body never ends is garbage', async () => {
    const { api } = openWorld({ limits: { maxImports: 1 } })
    const imported = async (body: Promise<string>) => (await slow(api, body).reply)?.status
    void imported(new Promise(() => undefined))
    await expect.poll(() => imported(Promise.resolve(''))).toBe(503)

    await expectRoom(() => imported(Promise.resolve('')))
  })

  it('keep no room for what is refused', async () => {
    const { api } = openWorld({ limits: { maxImports: 1 } })
    const post = (person: Person | null, query = '') =>
      api.dispatch(plainRequest({ method: 'POST', path: IMPORT, query }), () => person)
    for (let times = 0; times < 2; times += 1) {
      expect(await post(null)).toMatchObject({ status: 401 })
      expect(await post(ada, 'on_conflict=maybe')).toMatchObject({ status: 422 })
      expect(await post(ada)).toMatchObject({ status: 422 })
    }
  })
})
