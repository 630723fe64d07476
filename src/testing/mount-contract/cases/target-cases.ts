import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

const WHOLE = "pass the handler the request's target unchanged: do not decode or normalize it before"

/** Cases about request targets: paths and queries arrive as they were sent. */
export const targetCases: readonly MountCase[] = [
  mountCase('a path of the API is answered by the API', { fix: 'mount the handler at the prefix' }, async (client) => {
    const answer = await client.request({ path: client.probe.path(UNKNOWN_NAME) })
    answer.mustRefuse(client.probe.status, client.probe.code)
  }),

  ...['%2F', '%5C'].map((slash) =>
    mountCase(`a slash written as ${slash} stays in its segment`, { fix: WHOLE }, async (client) => {
      const { probe } = client
      const within = await client.request({ path: probe.path(`a${slash}b`) })
      within.mustRefuse(probe.status, probe.code)
      const split = await client.request({ path: probe.split(slash) })
      split.must(split.code !== probe.code, `not ${probe.code}: there is no such path`)
    }),
  ),

  mountCase('a segment is decoded once', { fix: WHOLE }, async (client) => {
    const { probe } = client
    const percent = await client.request({ path: probe.path('%25zz') })
    percent.mustRefuse(probe.status, probe.code)
    const split = await client.request({ path: probe.split('%252F') })
    split.must(split.code !== probe.code, `not ${probe.code}: there is no such path`)
  }),

  mountCase('a name is decoded once', { needs: ['repository'], service: 'pins', fix: WHOLE }, async (client) => {
    const [owner = '', name = ''] = client.known.repository?.split('/') ?? []
    const first = `%${name.charCodeAt(0).toString(16)}`
    const found = await client.request({ path: `/repos/${owner}/${first}${name.slice(1)}/issues/pinned` })
    found.mustBe(200)
    const twice = await client.request({
      path: `/repos/${owner}/${first.replace('%', '%25')}${name.slice(1)}/issues/pinned`,
    })
    twice.mustRefuse(404, 'REPOSITORY_NOT_FOUND')
  }),

  ...['%', '%zz', '%C3%28'].map((name) =>
    mountCase(
      `a path with the malformed ${name} is 404, and no error is thrown`,
      { fix: 'do not decode the path before the handler; a framework that does answers such requests itself' },
      async (client) => {
        const answer = await client.request({ path: client.probe.path(name) })
        answer.mustRefuse(404, 'ROUTE_NOT_FOUND')
        await client.mustStillAnswer()
      },
    ),
  ),

  mountCase('a target in absolute form counts as its path', { fix: WHOLE }, async (client) => {
    const { probe, prefix } = client
    for (const origin of ['http://git.example.com', 'https://[2001:db8::1]:8443']) {
      const target = `${origin}${prefix}${probe.path(UNKNOWN_NAME)}?x=1`
      const answer = await client.request({ path: '', target })
      answer.mustRefuse(probe.status, probe.code)
    }
  }),

  mountCase('one trailing slash makes no difference, two do', { fix: WHOLE }, async (client) => {
    const { probe } = client
    const one = await client.request({ path: `${probe.path(UNKNOWN_NAME)}/` })
    one.mustRefuse(probe.status, probe.code)
    const two = await client.request({ path: `${probe.path(UNKNOWN_NAME)}//` })
    two.must(two.code !== probe.code, `not ${probe.code}: there is no such path`)
  }),

  mountCase('a question mark without a query makes no difference', { fix: WHOLE }, async (client) => {
    const { probe } = client
    for (const query of ['?', '?&', '?%zz=%']) {
      const answer = await client.request({ path: `${probe.path(UNKNOWN_NAME)}${query}` })
      answer.mustRefuse(probe.status, probe.code)
    }
  }),

  mountCase('the mount root answers, with a query and without', { fix: WHOLE }, async (client) => {
    for (const path of client.prefix === '' ? ['/', '/?', '/?x=1'] : ['', '?', '?x=1', '/', '/?', '/?x=1']) {
      const answer = await client.request({ path })
      answer.mustBeNoFailure()
    }
    await client.mustStillAnswer()
  }),
]
