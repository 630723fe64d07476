import { expect, it } from 'vitest'
import { openWorld, people } from '../../world.ts'
import { plainRequest } from '../dispatch.ts'

// A request makes its signal on first access, and that costs more than the rest of a small answer.

/** How often the signal of a request is read until it is answered. */
async function looksAt(method: string, path: string): Promise<number> {
  let looks = 0
  const request = Object.defineProperty(plainRequest({ method, path }), 'signal', {
    get() {
      looks += 1
      return new AbortController().signal
    },
  })
  const [root = null] = people
  await openWorld().api.dispatch(request, () => root)
  return looks
}

it.each([
  ['GET', '/orgs/acme/blocks'],
  ['GET', '/orgs/acme/blocks/stan'],
  ['GET', '/repos/acme/rocket/issues/pinned'],
  ['GET', '/repos/acme/rocket/new_pin_allowed'],
  ['GET', '/admin/users/stan/badges'],
  ['GET', '/repos/acme/nothing/issues/pinned'],
])('a request that waits for nothing does not read it: %s %s', async (method, path) => {
  expect(await looksAt(method, path)).toBe(0)
})

it('a change reads it', async () => {
  expect(await looksAt('PUT', '/orgs/acme/blocks/stan')).toBeGreaterThan(0)
})
