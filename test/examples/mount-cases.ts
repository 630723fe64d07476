import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunningExample } from './running-example.ts'

const PINNED = '/api/v1/repos/acme/rocket/issues/pinned'
const PIN = '/api/v1/repos/acme/rocket/issues/2/pin'

/** How an example of mounting is met. */
export interface MountExample {
  start(): Promise<RunningExample>
  /** The headers by which it knows olga. */
  signIn(example: RunningExample): Promise<Readonly<Record<string, string>>>
  /** What the host itself answers at `/`; undefined: nothing is its own. */
  readonly home?: string | undefined
}

/** By the token that most examples know. */
export async function byToken(): Promise<Readonly<Record<string, string>>> {
  return { authorization: 'Bearer olga-token' }
}

/** What every example of mounting does. */
export function mountCases({ start, signIn, home }: MountExample): void {
  let example: RunningExample

  beforeAll(async () => {
    example = await start()
  })
  afterAll(() => example.stop())

  it('pins for whom the host knows, and lists what is pinned', async () => {
    const headers = await signIn(example)
    const pinned = await fetch(new URL(PIN, example.url), { method: 'POST', headers })
    const list = await fetch(new URL(`${PINNED}?page=1`, example.url), { headers })

    expect([pinned.status, list.status, list.headers.get('x-total-count')]).toEqual([204, 200, '1'])
    expect(await list.json()).toMatchObject([{ number: 2, title: 'Issue 2', pin_order: 1 }])
  })

  it('pins for no one else', async () => {
    const response = await fetch(new URL(PIN, example.url), { method: 'POST' })

    expect([response.status, await response.json()]).toMatchObject([401, { code: 'UNAUTHENTICATED' }])
  })

  if (home === undefined) return
  it('leaves the pages of the host alone', async () => {
    expect(await (await fetch(example.url)).text()).toBe(home)
  })
}
