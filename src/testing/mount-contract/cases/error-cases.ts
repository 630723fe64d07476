import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

/** Cases about errors. Every error is JSON, because clients parse it. */
export const errorCases: readonly MountCase[] = [
  mountCase(
    'a missing resource is a JSON error',
    { fix: 'do not let an error page replace the response of the handler' },
    async (client) => {
      for (const method of ['GET', client.probe.unsafe?.method ?? 'GET']) {
        const path = method === 'GET' ? client.probe.path(UNKNOWN_NAME) : (client.probe.unsafe?.path ?? '')
        const answer = await client.request({ method, path, headers: { Accept: 'text/html' } })
        answer.mustRefuse(client.probe.status, client.probe.code)
      }
    },
  ),

  mountCase(
    'a request without credentials learns which scheme is expected',
    { service: 'badges', fix: 'authenticate must return null if there is no credential, and must not throw' },
    async (client) => {
      const answer = await client.request({ path: `/admin/users/${UNKNOWN_NAME}/badges` })
      answer.mustRefuse(401, 'UNAUTHENTICATED')
      answer.must(answer.lines('www-authenticate').join() === 'Bearer', 'a WWW-Authenticate header: Bearer')
    },
  ),

  mountCase(
    'malformed credentials cause no failure',
    { fix: "authenticate must return null or throw ForgeError('INVALID_CREDENTIALS'), whatever the header contains" },
    async (client) => {
      for (const Authorization of ['token forgelet-no-such-token', 'Bearer', 'Basic %%%', 'x']) {
        const answer = await client.request({ path: client.probe.path(UNKNOWN_NAME), headers: { Authorization } })
        answer.must(answer.status === 401 || answer.code === client.probe.code, '401, or as without credentials')
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
      const answer = await client.request({ path: client.probe.path(UNKNOWN_NAME), headers: client.wrongCredentials })
      answer.mustRefuse(401, 'INVALID_CREDENTIALS')
    },
  ),
]

/** Cases about unexpected failures. */
export const failureCases: readonly MountCase[] = [
  mountCase(
    'a port that throws is 500 with a requestId, and its message is not shown',
    { needs: ['failing'], fix: 'let the handler answer: no error page and no stack trace in its place' },
    async (client) => {
      const { path = '', secret = '' } = client.known.failing ?? {}
      const answer = await client.request({ path, headers: client.credentials })
      answer.mustRefuse(500, 'INTERNAL')
      answer.must(typeof answer.json['requestId'] === 'string', 'a requestId in the body')
      const shown = [answer.body, ...answer.headers.flat()].join('\n')
      answer.must(!shown.includes(secret) && !/\n\s+at /.test(shown), 'no part of the thrown error')
      await client.mustStillAnswer()
    },
  ),
]

/** Cases about clients that disconnect. */
export const clientGoneCases: readonly MountCase[] = [
  mountCase(
    'a client that disconnects aborts the signal that the ports receive',
    {
      needs: ['waiting'],
      fix: "pass the handler the server's own request and response, or a Request with their signal",
    },
    async (client) => {
      const { waiting } = client.known
      await client.requestAndDisconnect({ path: waiting?.path ?? '', headers: client.credentials }, async () =>
        waiting?.asked(),
      )
      await waiting?.aborted()
      await client.mustStillAnswer()
    },
  ),
]
