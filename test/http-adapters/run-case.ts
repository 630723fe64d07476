import assert from 'node:assert/strict'
import type { Reply } from '../http.ts'
import type { Ask, Case, Expected } from './cases/case.ts'

// Runs a wire case against anything that answers: `dispatch`, or a server, of whatever runtime. Hence no vitest.

/** A request as it goes over the wire. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Sends a request, and gives the reply. */
export type Send = (sent: Sent) => Promise<Reply>

/**
 * Runs a case: what was done before, the request, and the look afterwards.
 *
 * @param more - whether objects may have more properties than the case names, where another host presents them
 * @throws AssertionError if a reply is not the one that the case expects
 */
export async function runCase(given: Case, send: Send, more = false): Promise<void> {
  for (const ask of given.before ?? []) {
    const { status, text } = await send(toSent(ask))
    assert.ok(status < 300, `before: ${ask.join(' ')}: ${status} ${text}`)
  }

  const reply = await send(toSent(given.ask, given.headers))
  assert.equal(reply.status, given.status, `${reply.status}, not ${given.status}: ${reply.text}`)
  assertSound(reply, given.ask[1])
  assertExpected(reply, given.expected ?? {}, more)
  if (given.after === undefined) return

  const [path, json] = given.after
  assertJson(JSON.parse((await send(toSent(['root', 'GET', path]))).text), json, more)
}

export function toSent([who, method, path, body]: Ask, headers: Case['headers'] = {}): Sent {
  const credential = who === 'anonymous' ? {} : { authorization: `token ${who}` }
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  return { method, path, body: text, headers: { ...headers, ...credential } }
}

/** What holds for every reply. */
function assertSound({ status, headers, text }: Reply, method: string): void {
  assert.equal(headers.get('cache-control'), 'max-age=0, private, must-revalidate')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  if (status === 204 || status === 304) assert.deepEqual([text, headers.get('content-type')], ['', undefined])
  if (status < 400) return
  assert.equal(headers.get('content-type'), 'application/json;charset=utf-8')
  if (method !== 'HEAD') assert.match(text, /^\{"message":".+","url":"[^"]*","code":"\w+"/)
}

function assertExpected(reply: Reply, { text, json, headers = {}, ...error }: Expected, more: boolean): void {
  const { code, message, violations, violationCodes } = error
  if (text !== undefined) assert.equal(reply.text, text)
  if (json !== undefined) assertJson(JSON.parse(reply.text), json, more)
  if (code !== undefined) assert.equal(JSON.parse(reply.text).code, code)
  if (message !== undefined) assert.equal(JSON.parse(reply.text).message, message)
  if (violations !== undefined) {
    const found: readonly { readonly pointer: string; readonly message: string }[] = JSON.parse(reply.text).violations
    assert.deepEqual(
      found.map(({ pointer }) => pointer),
      violations,
    )
    for (const { pointer, message } of found) assert.ok(pointer === '' || !message.includes(pointer), message)
  }
  if (violationCodes !== undefined) {
    const found: readonly { readonly code: string }[] = JSON.parse(reply.text).violations
    assert.deepEqual(
      found.map((violation) => violation.code),
      violationCodes,
    )
  }
  for (const [name, value] of Object.entries(headers)) {
    assert.deepEqual([name, reply.headers.get(name) ?? null], [name, value])
  }
}

function assertJson(found: unknown, expected: unknown, more: boolean): void {
  assert.deepEqual(more ? named(found, expected) : found, JSON.parse(JSON.stringify(expected)))
}

/** What a value has of the properties that another names. */
function named(found: unknown, expected: unknown): unknown {
  if (Array.isArray(found) && Array.isArray(expected)) return found.map((one, at) => named(one, expected[at]))
  if (!isRecord(found) || !isRecord(expected)) return found
  return Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, named(found[name], value)]))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
