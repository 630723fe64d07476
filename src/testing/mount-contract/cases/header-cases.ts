import type { Answer } from './answer.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'
import type { Visit } from './visit.ts'

const MEND = 'copy answers with every line of every header: those of Set-Cookie are never joined'

/** Cases about the host's own headers. */
export const headerCases: readonly MountCase[] = [
  mountCase('what the host puts on every answer is there', { needs: ['headers'], mend: MEND }, async (visit) => {
    const path = visit.probe.path(nobody)
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) hasAll(visit, await visit.ask({ method, path }))
  }),

  mountCase(
    'what the host puts on every answer is there when a list is given',
    { needs: ['headers', 'repository'], service: 'pins', mend: MEND },
    async (visit) => {
      const answer = await visit.ask({ path: `/repos/${visit.known.repository}/issues/pinned` })
      answer.mustBe(200)
      hasAll(visit, answer)
    },
  ),

  mountCase('no answer is kept by caches', { mend: 'leave Cache-Control as the API sets it' }, async (visit) => {
    const answer = await visit.ask({ path: visit.probe.path(nobody) })
    answer.must(answer.lines('cache-control').join().includes('private'), 'a Cache-Control header with private')
  }),

  mountCase(
    'browsers guess the type of no answer',
    { mend: 'leave X-Content-Type-Options as the API sets it' },
    async (visit) => {
      const path = visit.probe.path(nobody)
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) {
        const answer = await visit.ask({ method, path })
        const isSet = answer.lines('x-content-type-options').includes('nosniff')
        answer.must(isSet, 'an X-Content-Type-Options header: nosniff')
      }
    },
  ),
]

function hasAll({ known }: Visit, answer: Answer): void {
  for (const [name, value] of Object.entries(known.headers ?? {})) {
    const found = answer.lines(name.toLowerCase())
    for (const line of [value].flat()) {
      answer.must(found.includes(line), `a line ${name}: ${line} (its lines: ${JSON.stringify(found)})`)
    }
  }
}
