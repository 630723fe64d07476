import type { Answer } from './answer.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'

/** The headers that differ between responses, and those that depend on the server instead of the response. */
const NOT_COMPARED = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'set-cookie']

/** Cases about HEAD, OPTIONS, and methods that a path does not support. */
export const methodCases: readonly MountCase[] = [
  mountCase(
    'HEAD is GET without a body',
    { mend: 'mount the handler for every method, HEAD above all, and add nothing to what it answers' },
    async (visit) => {
      const path = visit.probe.path(nobody)
      const got = await visit.ask({ path })
      // The bytes after the first response show whether it had a body.
      const [head, next] = await visit.askInTurn([{ method: 'HEAD', path }, { path }])
      head?.must(told(head) === told(got), `${told(got)}, as to GET`)
      next?.mustRefuse(visit.probe.status, visit.probe.code)
    },
  ),

  mountCase(
    'a method that a path does not have is 405, and those it has are told',
    { mend: 'mount the handler for every method: it tells itself which a path has' },
    async (visit) => {
      const answer = await visit.ask({ method: 'PUT', path: visit.probe.path(nobody) })
      answer.mustRefuse(405, 'METHOD_NOT_ALLOWED')
      answer.must(/^GET, HEAD, .*OPTIONS$/.test(allowed(answer)), 'an Allow header: GET, HEAD, ... OPTIONS')
    },
  ),

  mountCase(
    'OPTIONS is 204, and the methods are told',
    {
      mend: 'let OPTIONS come through to the handler; answer only those of CORS (Access-Control-Request-Method) before',
    },
    async (visit) => {
      const path = visit.probe.path(nobody)
      const [answer, next] = await visit.askInTurn([{ method: 'OPTIONS', path }, { path }])
      answer?.mustBe(204)
      answer?.must(/^GET, HEAD, .*OPTIONS$/.test(allowed(answer)), 'an Allow header: GET, HEAD, ... OPTIONS')
      next?.mustRefuse(visit.probe.status, visit.probe.code)
    },
  ),
]

function allowed(answer: Answer): string {
  return answer.lines('allow').join()
}

/** Returns the status and the headers as one text. */
function told({ status, headers }: Answer): string {
  const lines = headers.filter(([name]) => !NOT_COMPARED.includes(name)).map(([name, value]) => `${name}: ${value}`)
  return `${status} ${lines.sort().join(', ')}`
}
