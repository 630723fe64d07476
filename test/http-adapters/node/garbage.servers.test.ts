import { EventEmitter } from 'node:events'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createApi } from '../../../src/http-adapters/http.ts'
import type { NodeRequest, NodeResponse } from '../../../src/http-adapters/node.ts'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import type { SigningKeySource } from '../../../src/index.ts'
import { createForge, rolePolicy } from '../../../src/index.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'

// What one request leaves to the garbage collector between the listener of node:http and the driver of SQLite. Counted are the
// bytes that the heap grows by: the adapter, the routes, the services, the store, and the values that the driver returns. Not
// counted is what Node itself makes of a request, since it is the same for every handler: the request and the response here are
// made before. It is not a quick test: those share a process, and what other files called there decides how this code is compiled.

const BATCH = 50
const BATCHES = 400
const WARM_UP = 20_000

const ORGANIZATION = 1000
const USER = 7
const accounts = new Map([
  ['acme', { kind: 'organization', id: ORGANIZATION }],
  ['stan', { kind: 'user', id: USER }],
] as const)
const olga = { id: 1 }
const signingKey: SigningKeySource = {
  format: 'ssh',
  publicKey: () => ({ format: 'ssh', text: 'ssh-ed25519 AAAA', etag: '"abc"' }),
}

it.each([
  ['a block check', '/orgs/acme/blocks/stan', 204, 4000],
  ['a signing key', '/signing-key.pub', 200, 2200],
] as const)('of %s is small', async (_what, url, status, most) => {
  const file = join(tmpdir(), `forgelet-garbage-${process.pid}-${status}.sqlite`)
  const storage = sqliteStorage(file)
  onTestFinished(async () => {
    await storage.close()
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  })
  await storage.migrate?.()
  const forge = createForge({
    storage,
    policy: rolePolicy({ isSiteAdmin: () => false, repositoryRole: () => 'none', organizationRole: () => 'owner' }),
    membership: { isMember: () => false },
    signingKey,
  })
  await forge.blocks.block('system', { organizationId: ORGANIZATION, account: { kind: 'user', id: USER } })
  const api = createApi(forge, {
    directory: {
      findAccount: (name) => accounts.get(name === 'acme' ? 'acme' : 'stan'),
      findRepository: () => undefined,
      findIssue: () => undefined,
    },
    present: { users: () => [], issues: () => [], pullRequests: () => [] },
  })
  const handle = nodeHandler(api, { authenticate: () => olga })

  const request: NodeRequest = Object.assign(new EventEmitter(), {
    method: 'GET',
    url,
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

  expect(response.statusCode).toBe(status)
  expect(response.ended).toBe(WARM_UP)
  expect(bytesOf(answer)).toBeLessThanOrEqual(most)
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
