import type { HostPath } from '../known-host.ts'
import { blocking, whileBlocked } from './client.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

const WHOLE = "pass the handler the request's target unchanged: do not decode or normalize it before"

const INVALID = { status: 422, code: 'INVALID_INPUT' }
/** The maximum length of a note, in characters. */
const MAX_NOTE_LENGTH = 255

/** Cases about request targets: paths and queries arrive as they were sent. */
export const targetCases: readonly MountCase[] = [
  mountCase('a path of the API is answered by the API', { fix: 'mount the handler at the prefix' }, async (client) =>
    client.mustStillAnswer(),
  ),

  mountCase('a segment is decoded once, and an encoded slash stays in it', { fix: WHOLE }, async (client) => {
    const { probe } = client
    await client.mustRefuse(['a%2Fb', 'a%5Cb', '%25zz'].map((name) => ({ path: probe.named(name) })))
    for (const slash of ['%2F', '%5C', '%252F']) {
      const split = await client.request({ path: probe.split(slash) })
      split.must(split.json['code'] !== probe.code, `not ${probe.code}: there is no such path`)
    }
  }),

  mountCase(
    'a path with a malformed % is 404, and no error is thrown',
    { fix: 'do not decode the path before the handler; a framework that does answers such requests itself' },
    async (client) => {
      const paths = ['%', '%zz', '%C3%28'].map((name) => client.probe.named(name))
      await client.mustRefuse(
        paths.map((path) => ({ path })),
        { status: 404, code: 'ROUTE_NOT_FOUND' },
      )
      await client.mustStillAnswer()
    },
  ),

  mountCase('a target in absolute form counts as its path', { fix: WHOLE }, async (client) => {
    const { probe, prefix } = client
    const origins = ['http://git.example.com', 'https://[2001:db8::1]:8443']
    await client.mustRefuse(origins.map((origin) => ({ path: '', target: `${origin}${prefix}${probe.path}?x=1` })))
  }),

  mountCase(
    'one trailing slash or a question mark makes no difference, two slashes do',
    { fix: WHOLE },
    async (client) => {
      const { probe } = client
      await client.mustRefuse(['/', '?', '?&', '?%zz=%'].map((end) => ({ path: `${probe.path}${end}` })))
      const two = await client.request({ path: `${probe.path}//` })
      two.must(two.json['code'] !== probe.code, `not ${probe.code}: there is no such path`)
    },
  ),

  mountCase('the mount root answers, with a query and without', { fix: WHOLE }, async (client) => {
    for (const path of client.prefix === '' ? ['/', '/?', '/?x=1'] : ['', '?', '?x=1', '/', '/?', '/?x=1']) {
      const answer = await client.request({ path })
      answer.mustBeNoFailure()
    }
  }),

  // The length of a note shows how it was decoded.
  mountCase(
    'a query reaches the handler, and is decoded once',
    {
      needs: ['authorization', 'organization', 'users'],
      service: 'blocks',
      fix: 'pass the handler the target with its query unchanged: the query is often lost where the mount path is removed',
    },
    async (client) => {
      const [user] = client.known.users ?? []
      for (const [written, length] of [
        ['x', 1],
        ['%2B', 1],
        ['+', 1],
        ['%F0%9F%90%9B', 1],
        ['%252B', 3],
      ] as const) {
        const most = Math.floor(MAX_NOTE_LENGTH / length)
        await whileBlocked(client, [blocking(client, user, `?note=${written.repeat(most)}`)], async () => undefined)
        await client.mustRefuse([blocking(client, user, `?note=${written.repeat(most + 1)}`)], INVALID)
      }
      await client.mustRefuse([blocking(client, user, '?note=%zz')], INVALID)
    },
  ),
]

/** Creates cases that the host serves its own paths, although the API receives each request first. */
export function elsewhereCases(paths: readonly HostPath[]): readonly MountCase[] {
  return paths.map(({ path, text }) =>
    mountCase(
      `${path} reaches the host`,
      { fix: 'let other paths pass: mount the API as a middleware with next, or use match' },
      async (client) => {
        const answer = await client.requestAndGoOn({ path: '', target: path })
        answer.must(answer.body.includes(text), `a body with ${JSON.stringify(text)}`)
      },
    ),
  )
}
