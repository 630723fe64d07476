import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { createApi } from '../../../src/http-adapters/http.ts'
import type { NodeRequest, NodeResponse } from '../../../src/http-adapters/node.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import { createForge } from '../../../src/index.ts'
import { newFile, openStorage } from '../../storage/sql/database-files.ts'
import type { Person } from '../../world.ts'
import { directory, people, present } from '../../world.ts'

// What one request leaves to the garbage collector between the listener of node:http and the driver of SQLite. Counted are the
// bytes that the heap grows by: the adapter, the routes, the services, the store, and the values that the driver returns. Not
// counted is what Node itself makes of a request, since it is the same for every handler: the request and the response here are
// made before. It is not a quick test: those share a process, and what other files called there decides how this code is compiled.

const BATCH = 50
const BATCHES = 400
const WARM_UP = 20_000

it('of a block check is small', async () => {
  const forge = createForge<Person, unknown>({
    storage: await openStorage(newFile()),
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
  await forge.blocks.block('system', { organizationId: 6, account: { kind: 'user', id: 7 } })
  const [root = null] = people
  const handle = nodeHandler(createApi(forge, { directory, present }), { authenticate: () => root })

  const request: NodeRequest = Object.assign(new EventEmitter(), {
    method: 'GET',
    url: '/orgs/acme/blocks/stan',
    httpVersion: '1.1',
    headers: {},
    readableDidRead: false,
    complete: true,
    iterator: () => ({ async *[Symbol.asyncIterator]() {} }),
    resume: () => undefined,
  })
  const response = new Sink()
  const answer = (times: number): void => {
    for (let time = 0; time < times; time += 1) handle(request, response)
  }
  answer(WARM_UP)

  expect([response.statusCode, response.ended]).toEqual([204, WARM_UP])
  expect(bytesOf(answer)).toBeLessThanOrEqual(4000)
})

/** The median of many small batches: in some of them the heap was collected, or the compiler left something. */
function bytesOf(answer: (times: number) => void): number {
  const bytes = new Float64Array(BATCHES)
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const before = process.memoryUsage().heapUsed
    answer(BATCH)
    bytes[batch] = (process.memoryUsage().heapUsed - before) / BATCH
  }
  return bytes.sort()[BATCHES >> 1] ?? Number.NaN
}

/** A response that keeps nothing. */
class Sink extends EventEmitter implements NodeResponse {
  statusCode = 0
  ended = 0
  readonly headersSent = false
  readonly writableEnded = false

  getHeader(): undefined {}
  setHeader(): void {}
  removeHeader(): void {}
  write(): void {}
  destroy(): void {}

  end(): void {
    this.ended += 1
  }

  /** What listens to a response goes with it: this one stands for each of them. */
  override on(): this {
    return this
  }
}
