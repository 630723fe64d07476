import type { IncomingMessage } from 'node:http'
import type { Page } from 'playwright-core'
import { beforeEach, expect, test, vi } from 'vitest'
import { describeInBrowser } from '../browser.ts'
import { serve } from '../http.ts'
import type { World } from '../world.ts'
import { authenticate, openWorld } from '../world.ts'
import { mounted } from './node/mounted.ts'

// A host whose users sign in with a cookie, and a page of another site that abuses it, in a real browser.

const PIN = '/api/repos/acme/rocket/issues/1/pin'

/** What the host saw of the requests for the API. */
interface Seen {
  readonly site: unknown
  readonly cookie: string | undefined
  readonly status: number
}

describeInBrowser('a page of another site in a browser', (browser) => {
  let page: Page
  let world: World
  let seen: Seen[]
  let host: string
  let elsewhere: string

  beforeEach(async () => {
    world = openWorld()
    seen = []
    host = `http://127.0.0.1:${await serve(hostListener())}`
    elsewhere = `http://localhost:${await serve((_request, response) => htmlPage(response, 'elsewhere'))}`
    page = await (await browser().newContext()).newPage()
    await page.goto(`${host}/login`)
  })

  /** Signs in by a visit to /login. */
  function hostListener(): Parameters<typeof serve>[0] {
    const api = mounted(world, { authenticate: ({ headers }) => cookieUser(headers.cookie) })
    return (request, response) => {
      if (request.url === '/login') {
        response.setHeader('Set-Cookie', 'session=ada; Path=/; HttpOnly')
        return htmlPage(response, 'signed in')
      }
      if (request.url !== PIN) return htmlPage(response, 'another page')
      response.on('finish', () => seen.push(seenOf(request, response.statusCode)))
      api(request, response)
    }
  }

  /** Posts a form, as any page can to any site. */
  async function post(): Promise<void> {
    await page.setContent(`<form method="post" action="${host}${PIN}"><button>Win a prize</button></form>`)
    await page.getByRole('button').click()
    await vi.waitFor(() => expect(seen).toHaveLength(1), { timeout: 30_000 })
  }

  async function pinned(): Promise<number> {
    return (await world.forge.pins.list('system', { repositoryId: 1, kind: 'issue' })).length
  }

  test('cannot change anything with the cookie of the user', async () => {
    await page.goto(elsewhere)
    await post()

    expect(seen).toEqual([{ site: 'cross-site', cookie: 'session=ada', status: 403 }])
    expect(await pinned()).toBe(0)
  })

  test('is not what a page of the host is', async () => {
    await post()

    expect(seen).toEqual([{ site: 'same-origin', cookie: 'session=ada', status: 204 }])
    expect(await pinned()).toBe(1)
  })
})

function cookieUser(cookie: string | undefined): ReturnType<typeof authenticate> {
  const name = /(?:^|; )session=(\w+)/.exec(cookie ?? '')?.[1]
  return name === undefined ? null : authenticate(`token ${name}`)
}

function seenOf({ headers }: IncomingMessage, status: number): Seen {
  return { site: headers['sec-fetch-site'], cookie: headers.cookie, status }
}

function htmlPage(
  response: { setHeader(name: string, value: string): unknown; end(text: string): unknown },
  text: string,
): void {
  response.setHeader('Content-Type', 'text/html')
  response.end(`<!doctype html><title>${text}</title><body>${text}</body>`)
}
