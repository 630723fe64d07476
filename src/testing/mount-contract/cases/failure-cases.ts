import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

/** Cases about unexpected failures. */
export const failureCases: readonly MountCase[] = [
  mountCase(
    'a port that throws is 500 with a requestId, and nothing of its message is told',
    { needs: ['failing'], mend: 'let the handler answer: no page for errors, and no stack, in its place' },
    async (visit) => {
      const { path = '', secret = '' } = visit.known.failing ?? {}
      const answer = await visit.ask({ path, headers: visit.credentials })
      answer.mustRefuse(500, 'INTERNAL')
      answer.must(typeof answer.json['requestId'] === 'string', 'a requestId in the body')
      const told = [answer.body, ...answer.headers.flat()].join('\n')
      answer.must(!told.includes(secret) && !/\n\s+at /.test(told), 'nothing of what was thrown')
      await visit.mustLiveOn()
    },
  ),
]
