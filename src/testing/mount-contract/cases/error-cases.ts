import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'

/** Cases about errors. Every error is JSON, because clients parse it. */
export const errorCases: readonly MountCase[] = [
  mountCase(
    'what there is not is a JSON error',
    { mend: 'let no page for errors replace what the handler answers' },
    async (visit) => {
      for (const method of ['GET', visit.probe.unsafe?.method ?? 'GET']) {
        const path = method === 'GET' ? visit.probe.path(nobody) : (visit.probe.unsafe?.path ?? '')
        const answer = await visit.ask({ method, path, headers: { Accept: 'text/html' } })
        answer.mustRefuse(visit.probe.status, visit.probe.code)
      }
    },
  ),

  mountCase(
    'who sends no credentials is told which are wanted',
    { service: 'badges', mend: 'authenticate gives null when there is no credential, and throws nothing' },
    async (visit) => {
      const answer = await visit.ask({ path: `/admin/users/${nobody}/badges` })
      answer.mustRefuse(401, 'UNAUTHENTICATED')
      answer.must(answer.lines('www-authenticate').join() === 'Bearer', 'a WWW-Authenticate header: Bearer')
    },
  ),

  mountCase(
    'strange credentials are no failure',
    { mend: "authenticate gives null, or throws ForgeError('INVALID_CREDENTIALS'), whatever the header is" },
    async (visit) => {
      for (const Authorization of ['token forgelet-no-such-token', 'Bearer', 'Basic %%%', 'x']) {
        const answer = await visit.ask({ path: visit.probe.path(nobody), headers: { Authorization } })
        answer.must(answer.status === 401 || answer.code === visit.probe.code, '401, or as without credentials')
      }
    },
  ),

  mountCase(
    'wrong credentials are 401',
    {
      needs: ['authorization'],
      mend: "authenticate throws ForgeError('INVALID_CREDENTIALS') for a credential that is none",
    },
    async (visit) => {
      const answer = await visit.ask({ path: visit.probe.path(nobody), headers: visit.wrongCredentials })
      answer.mustRefuse(401, 'INVALID_CREDENTIALS')
    },
  ),
]
