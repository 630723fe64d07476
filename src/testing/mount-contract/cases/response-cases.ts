import type { Answer } from './answer.ts'
import type { MountRequest } from './client.ts'
import { WRONG_TOKEN } from './client.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

const EVERY_METHOD = 'mount the handler for every method: it knows which methods a path has'

/** Cases about methods, headers and errors: a response arrives as the API gave it. */
export const responseCases: readonly MountCase[] = [
  mountCase(
    'HEAD is GET without a body',
    { fix: 'mount the handler for every method, including HEAD, and add nothing to its response' },
    async (client) => {
      const got = await client.request(client.probe)
      const differing = differingHeaders(got, await client.request(client.probe))
      const head = await client.requestAndGoOn({ ...client.probe, method: 'HEAD' })
      const expected = shown(got, differing)
      head.must(shown(head, differing) === expected, `${expected}, as to GET`)
    },
  ),

  mountCase('a method that a path does not have is 405 with an Allow header', { fix: EVERY_METHOD }, async (client) => {
    const answer = await client.request({ ...client.probe, method: client.probe.refusedMethod })
    answer.mustRefuse(405, 'METHOD_NOT_ALLOWED')
    mustAllow(answer)
  }),

  mountCase(
    'OPTIONS is 204 with an Allow header',
    {
      fix: 'pass OPTIONS on to the handler; answer only CORS preflights (Access-Control-Request-Method) before it',
    },
    async (client) => {
      mustAllow(await client.requestAndGoOn({ ...client.probe, method: 'OPTIONS' }, 204))
    },
  ),

  mountCase(
    'headers that the host sets on every response are present',
    { needs: ['headers'], fix: 'copy every line of every header: Set-Cookie lines are never joined' },
    async (client) => {
      const { headers = {}, repository, services = ['pins'] } = client.known
      const requests = ['GET', 'HEAD', 'OPTIONS', client.probe.refusedMethod].map(
        (method): MountRequest => ({ ...client.probe, method }),
      )
      if (repository !== undefined && services.includes('pins'))
        requests.push({
          method: 'GET',
          path: `/repos/${repository}/issues/pinned`,
          describedBy: ['services', 'repository'],
        })
      for (const request of requests) {
        const answer = await client.request(request)
        for (const [name, value] of Object.entries(headers)) {
          const found = answer.lines(name.toLowerCase())
          for (const line of [value].flat()) {
            answer.must(found.includes(line), `a line ${name}: ${line} (its lines: ${JSON.stringify(found)})`)
          }
        }
      }
    },
  ),

  mountCase(
    'caches store no response, and browsers do not guess its type',
    { fix: 'leave Cache-Control and X-Content-Type-Options as the API sets them' },
    async (client) => {
      for (const method of ['GET', 'HEAD', 'OPTIONS', client.probe.refusedMethod]) {
        const answer = await client.request({ ...client.probe, method })
        const isPrivate = answer.lines('cache-control').join().includes('private')
        answer.must(isPrivate || method !== 'GET', 'a Cache-Control header with private')
        const isSet = answer.lines('x-content-type-options').includes('nosniff')
        answer.must(isSet, 'an X-Content-Type-Options header: nosniff')
      }
    },
  ),

  mountCase(
    'a missing resource is a JSON error',
    { fix: 'do not let an error page replace the response of the handler' },
    async (client) => {
      const { probe } = client
      const headers = { Accept: 'text/html' }
      await client.mustRefuse([
        { path: probe.path, headers },
        { ...(probe.unsafe ?? probe), headers },
      ])
    },
  ),

  mountCase(
    'a request without credentials learns which scheme is expected',
    { service: 'badges', fix: 'authenticate must return null if there is no credential, and must not throw' },
    async (client) => {
      const answer = await client.request({ path: `/admin/users/${UNKNOWN_NAME}/badges` })
      answer.mustRefuse(401, 'UNAUTHENTICATED')
      const isOfSessions = answer.json['message'] === 'authentication is required'
      const expected = isOfSessions ? 'no WWW-Authenticate header' : 'a WWW-Authenticate header: Bearer'
      answer.must(answer.lines('www-authenticate').join() === (isOfSessions ? '' : 'Bearer'), expected)
    },
  ),

  mountCase(
    'malformed credentials cause no failure',
    { fix: "authenticate must return null or throw ForgeError('INVALID_CREDENTIALS'), whatever the header contains" },
    async (client) => {
      for (const Authorization of [`token ${WRONG_TOKEN}`, 'Bearer', 'Basic %%%', 'x']) {
        const answer = await client.request({ path: client.probe.path, headers: { Authorization } })
        const isAnonymous = answer.json['code'] === client.probe.code
        answer.must(answer.status === 401 || isAnonymous, '401, or as without credentials')
      }
    },
  ),

  mountCase(
    'wrong credentials are 401',
    {
      needs: ['authorization'],
      fix: "authenticate must throw ForgeError('INVALID_CREDENTIALS') for an invalid credential",
    },
    async (client) => {
      const wrong = { path: client.probe.path, headers: client.wrongCredentials }
      await client.mustRefuse([wrong], { status: 401, code: 'INVALID_CREDENTIALS' })
    },
  ),

  mountCase(
    'a port that throws is 500 with a requestId, and its message is not shown',
    { needs: ['failing'], fix: 'let the handler answer: no error page and no stack trace in its place' },
    async (client) => {
      const { path = '', secret = '' } = client.known.failing ?? {}
      const answer = await client.requestAndGoOn({ path, headers: client.credentials, describedBy: ['failing'] })
      answer.mustRefuse(500, 'INTERNAL')
      answer.must(typeof answer.json['requestId'] === 'string', 'a requestId in the body')
      const shown = [answer.body, ...answer.headers.flat()].join('\n')
      answer.must(!shown.includes(secret) && !/\n\s+at /.test(shown), 'no part of the thrown error')
      await client.mustStillAnswer()
    },
  ),

  mountCase(
    'a client that disconnects aborts the signal that the ports receive',
    {
      needs: ['waiting'],
      fix: "pass the handler the server's own request and response, or a Request with their signal",
    },
    async (client) => {
      const { path = '', asked, aborted } = client.known.waiting ?? {}
      const request: MountRequest = { path, headers: client.credentials, describedBy: ['waiting'] }
      await client.requestAndDisconnect(request, async () => asked?.())
      await aborted?.()
      await client.mustStillAnswer()
    },
  ),
]

function mustAllow(answer: Answer): void {
  const isAllowed = /^GET, HEAD, .*OPTIONS$/.test(answer.lines('allow').join())
  answer.must(isAllowed, 'an Allow header: GET, HEAD, ... OPTIONS')
}

/** The headers that differ between responses, and those that depend on the server instead of the response. */
const NOT_COMPARED = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'set-cookie']

/** Returns the names of the headers whose values the host creates for each request, such as ids, nonces and counters. */
function differingHeaders(one: Answer, other: Answer): readonly string[] {
  const names = new Set([...one.headers, ...other.headers].map(([name]) => name))
  return [...names].filter((name) => one.lines(name).join() !== other.lines(name).join())
}

/** Returns the status and the headers as one text. */
function shown({ status, headers }: Answer, differing: readonly string[]): string {
  const notCompared = [...NOT_COMPARED, ...differing]
  const lines = headers.filter(([name]) => !notCompared.includes(name)).map(([name, value]) => `${name}: ${value}`)
  return `${status} ${lines.sort().join(', ')}`
}
