import { expect } from 'vitest'
import type { Ask, Case, Expected } from './cases/case.ts'
import type { World } from './world.ts'
import { openWorld } from './world.ts'

/** A reply as a client sees it; header names in lower case. */
export interface Seen {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** Sends one request to a world, by dispatch or by an adapter. */
export type Send = (world: World, ask: Sent) => Promise<Seen>

/** A request as it goes over the wire. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Runs one case in a world of its own. */
export async function runCase(given: Case, send: Send): Promise<void> {
  const world = openWorld(given.world)
  for (const slug of ['night-owl', 'founder']) {
    const badge = { slug, description: `The ${slug}`, imageUrl: `https://example.com/${slug}.png` }
    await world.forge.badges.catalogue.define('system', badge)
  }
  for (const ask of given.before ?? []) expect(await send(world, toSent(ask))).toMatchObject({ status: 204 })

  const seen = await send(world, toSent(given.ask, given.headers))

  expect({ status: seen.status, text: seen.text }).toMatchObject({ status: given.status })
  expectSound(seen, given.ask[1])
  if (given.expected !== undefined) expectReply(seen, given.expected)
  if (given.after === undefined) return
  const [path, json] = given.after
  expect(JSON.parse((await send(world, toSent(['root', 'GET', path]))).text)).toEqual(json)
}

function toSent([who, method, path, body]: Ask, headers: Readonly<Record<string, string>> = {}): Sent {
  const credential = who === 'anonymous' ? {} : { authorization: `token ${who}` }
  return {
    method,
    path,
    body: typeof body === 'object' ? JSON.stringify(body) : body,
    headers: { ...headers, ...credential },
  }
}

/** What holds for every reply. */
function expectSound(seen: Seen, method: string): void {
  expect(seen.headers.get('cache-control')).toBe('max-age=0, private, must-revalidate')
  expect(seen.headers.get('x-content-type-options')).toBe('nosniff')
  if (seen.status === 204 || seen.status === 304) {
    expect(seen.text).toBe('')
    expect(seen.headers.has('content-type')).toBe(false)
  }
  if (seen.status >= 400) expect(seen.headers.get('content-type')).toBe('application/json;charset=utf-8')
  if (seen.status >= 400 && method !== 'HEAD') {
    expect(JSON.parse(seen.text)).toMatchObject({ message: expect.any(String), url: '', code: expect.any(String) })
  }
}

function expectReply(seen: Seen, expected: Expected): void {
  const { code, message, violations, json, text, headers = {} } = expected
  if (code !== undefined) expect(JSON.parse(seen.text)).toMatchObject({ code })
  if (message !== undefined) expect(JSON.parse(seen.text)).toMatchObject({ message })
  if (violations !== undefined) {
    for (const { pointer, message } of JSON.parse(seen.text).violations) {
      if (pointer !== '') expect(message).not.toContain(pointer)
    }
    expect(JSON.parse(seen.text)).toMatchObject({ violations: violations.map((pointer) => ({ pointer })) })
  }
  if (json !== undefined) expect(JSON.parse(seen.text)).toEqual(json)
  if (text !== undefined) expect(seen.text).toBe(text)
  for (const [name, value] of Object.entries(headers))
    expect([name, seen.headers.get(name) ?? null]).toEqual([name, value])
}
