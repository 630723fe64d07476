import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'

const WHOLE = "hand the handler the request's target as it came: mount it, and take nothing apart before it"

/** Cases about request targets: paths and queries arrive as they were sent. */
export const targetCases: readonly MountCase[] = [
  mountCase('a path of the API is answered by the API', { mend: 'mount the handler at the prefix' }, async (visit) => {
    const answer = await visit.ask({ path: visit.probe.path(nobody) })
    answer.mustRefuse(visit.probe.status, visit.probe.code)
  }),

  ...['%2F', '%5C'].map((slash) =>
    mountCase(`a slash that is written ${slash} stays in its segment`, { mend: WHOLE }, async (visit) => {
      const { probe } = visit
      const within = await visit.ask({ path: probe.path(`a${slash}b`) })
      within.mustRefuse(probe.status, probe.code)
      const split = await visit.ask({ path: probe.split(slash) })
      split.must(split.code !== probe.code, `not ${probe.code}: there is no such path`)
    }),
  ),

  mountCase('a segment is decoded once', { mend: WHOLE }, async (visit) => {
    const { probe } = visit
    const percent = await visit.ask({ path: probe.path('%25zz') })
    percent.mustRefuse(probe.status, probe.code)
    const split = await visit.ask({ path: probe.split('%252F') })
    split.must(split.code !== probe.code, `not ${probe.code}: there is no such path`)
  }),

  mountCase('a name is decoded once', { needs: ['repository'], service: 'pins', mend: WHOLE }, async (visit) => {
    const [owner = '', name = ''] = visit.known.repository?.split('/') ?? []
    const first = `%${name.charCodeAt(0).toString(16)}`
    const found = await visit.ask({ path: `/repos/${owner}/${first}${name.slice(1)}/issues/pinned` })
    found.mustBe(200)
    const twice = await visit.ask({
      path: `/repos/${owner}/${first.replace('%', '%25')}${name.slice(1)}/issues/pinned`,
    })
    twice.mustRefuse(404, 'REPOSITORY_NOT_FOUND')
  }),

  ...['%', '%zz', '%C3%28'].map((name) =>
    mountCase(
      `a path with the malformed ${name} is 404, and nothing is thrown`,
      { mend: 'decode no path before the handler; if the framework does, it answers such requests itself' },
      async (visit) => {
        const answer = await visit.ask({ path: visit.probe.path(name) })
        answer.mustRefuse(404, 'ROUTE_NOT_FOUND')
        await visit.mustLiveOn()
      },
    ),
  ),

  mountCase('a target in absolute form is that of its path', { mend: WHOLE }, async (visit) => {
    const { probe, prefix } = visit
    for (const origin of ['http://git.example.com', 'https://[2001:db8::1]:8443']) {
      const target = `${origin}${prefix}${probe.path(nobody)}?x=1`
      const answer = await visit.ask({ path: '', target })
      answer.mustRefuse(probe.status, probe.code)
    }
  }),

  mountCase('one slash at the end of a path does not matter, two do', { mend: WHOLE }, async (visit) => {
    const { probe } = visit
    const one = await visit.ask({ path: `${probe.path(nobody)}/` })
    one.mustRefuse(probe.status, probe.code)
    const two = await visit.ask({ path: `${probe.path(nobody)}//` })
    two.must(two.code !== probe.code, `not ${probe.code}: there is no such path`)
  }),

  mountCase('a question mark without a query does not matter', { mend: WHOLE }, async (visit) => {
    const { probe } = visit
    for (const query of ['?', '?&', '?%zz=%']) {
      const answer = await visit.ask({ path: `${probe.path(nobody)}${query}` })
      answer.mustRefuse(probe.status, probe.code)
    }
  }),

  mountCase('the mount root is answered, with a query and without', { mend: WHOLE }, async (visit) => {
    for (const path of visit.prefix === '' ? ['/', '/?', '/?x=1'] : ['', '?', '?x=1', '/', '/?', '/?x=1']) {
      const answer = await visit.ask({ path })
      answer.mustBeNoFailure()
    }
    await visit.mustLiveOn()
  }),
]
