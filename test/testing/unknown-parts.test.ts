import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { createTestForge, mountContract } from '../../app/testing/testing.ts'
import { listening } from '../http.ts'
import { mounted } from '../http-adapters/node/mounted.ts'
import { openWorld } from '../world.ts'

const start = async (): Promise<never> => {
  throw new Error('not started')
}
const functions = { asked: async () => undefined, aborted: async () => undefined }

test.each([
  ['organisation', { organisation: 'acme' }, 'did you mean organization?'],
  ['one user', { users: ['a'] }, 'needs users'],
  ['a repository without its owner', { repository: 'rocket' }, 'needs repository'],
  ['waiting without functions', { waiting: { path: '/x' } }, 'needs waiting.asked'],
  ['waiting without a path', { waiting: { pathh: '/x', ...functions } }, 'waiting.path'],
  ['failing with a text', { failing: { path: '/x', text: 'boom' } }, 'no option failing.text'],
  ['failing without a secret', { failing: { path: '/x' } }, 'needs failing.secret'],
])('mountContract refuses %s', (_what, known, message) => {
  expect(() => mountContract(start, known as never)).toThrow(message)
})

test.each([
  ['polcy', { polcy: {} }, 'did you mean policy?'],
  ['a policy that is none', { policy: {} }, 'needs policy'],
  ['a time that is no Date', { now: '2026' }, 'needs now'],
  ['users that are no object', { users: 1 }, 'needs users'],
])('createTestForge refuses %s', async (_what, options, message) => {
  await expect(createTestForge(options as never)).rejects.toThrow(message)
})

test('a header that differs by request is no fault of a mount', async () => {
  const handler = mounted(openWorld())
  const server = createServer((request, response) => {
    response.setHeader('X-Request-Id', randomUUID())
    handler(request, response)
  })
  const { origin, stop } = await listening(server)
  const head = mountContract(async () => ({ origin, prefix: '/api', stop: async () => undefined })).find(
    ({ name }) => name === 'HEAD is GET without a body',
  )
  await head?.run()
  await stop()

  expect(head).toBeDefined()
})
