import type { IncomingMessage } from 'node:http'
import type { NodeMountOptions } from '../../../src/http-adapters/node.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import { ask } from '../../http.ts'
import type { Person, World } from '../../world.ts'
import { authenticate } from '../../world.ts'

/** Mounts a world at `/api`, as its tests do unless they say otherwise. */
export function mounted(
  world: World,
  options: Partial<NodeMountOptions<Person, IncomingMessage>> = {},
): ReturnType<typeof nodeHandler<Person, IncomingMessage>> {
  return nodeHandler<Person, IncomingMessage>(world.api, {
    authenticate: ({ headers }) => authenticate(headers.authorization),
    basePath: '/api',
    ...options,
  })
}

/** The last request of a socket: it is answered by `new_pin_allowed`, and then the server closes. */
export const goodbye: string = ask('GET /api/repos/acme/rocket/new_pin_allowed', { Connection: 'close' })
