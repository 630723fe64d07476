import type { Answer } from './answer.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

/** The headers that differ between responses, and those that depend on the server instead of the response. */
const NOT_COMPARED = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'set-cookie']

/** Cases about HEAD, OPTIONS, and methods that a path does not support. */
export const methodCases: readonly MountCase[] = [
  mountCase(
    'HEAD is GET without a body',
    { fix: 'mount the handler for every method, including HEAD, and add nothing to its response' },
    async (client) => {
      const path = client.probe.path(UNKNOWN_NAME)
      const got = await client.request({ path })
      // The bytes after the first response show whether it had a body.
      const [head, next] = await client.pipeline([{ method: 'HEAD', path }, { path }])
      head?.must(shown(head) === shown(got), `${shown(got)}, as to GET`)
      next?.mustRefuse(client.probe.status, client.probe.code)
    },
  ),

  mountCase(
    'a method that a path does not have is 405 with an Allow header',
    { fix: 'mount the handler for every method: it knows which methods a path has' },
    async (client) => {
      const answer = await client.request({ method: 'PUT', path: client.probe.path(UNKNOWN_NAME) })
      answer.mustRefuse(405, 'METHOD_NOT_ALLOWED')
      answer.must(/^GET, HEAD, .*OPTIONS$/.test(allowed(answer)), 'an Allow header: GET, HEAD, ... OPTIONS')
    },
  ),

  mountCase(
    'OPTIONS is 204 with an Allow header',
    {
      fix: 'pass OPTIONS on to the handler; answer only CORS preflights (Access-Control-Request-Method) before it',
    },
    async (client) => {
      const path = client.probe.path(UNKNOWN_NAME)
      const [answer, next] = await client.pipeline([{ method: 'OPTIONS', path }, { path }])
      answer?.mustBe(204)
      answer?.must(/^GET, HEAD, .*OPTIONS$/.test(allowed(answer)), 'an Allow header: GET, HEAD, ... OPTIONS')
      next?.mustRefuse(client.probe.status, client.probe.code)
    },
  ),
]

function allowed(answer: Answer): string {
  return answer.lines('allow').join()
}

/** Returns the status and the headers as one text. */
function shown({ status, headers }: Answer): string {
  const lines = headers.filter(([name]) => !NOT_COMPARED.includes(name)).map(([name, value]) => `${name}: ${value}`)
  return `${status} ${lines.sort().join(', ')}`
}
