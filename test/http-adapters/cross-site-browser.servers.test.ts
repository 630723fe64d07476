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
  readonly authorization: string | undefined
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

  /** Signs in by a visit to /login; asks for Basic credentials at /git, as servers of repositories do. */
  function hostListener(): Parameters<typeof serve>[0] {
    const api = mounted(world, { authenticate: ({ headers }) => cookieUser(headers.cookie) })
    return (request, response) => {
      if (request.url === '/login') {
        response.setHeader('Set-Cookie', 'session=ada; Path=/; HttpOnly')
        return htmlPage(response, 'signed in')
      }
      if (request.url === '/git') {
        if (request.headers.authorization !== undefined) return htmlPage(response, 'repositories')
        return void response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end()
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

    expect(seen).toEqual([{ site: 'cross-site', cookie: 'session=ada', authorization: undefined, status: 403 }])
    expect(await pinned()).toBe(0)
  })

  test('cannot change anything either when it has planted Basic credentials', async () => {
    await page.goto(elsewhere)
    await page.goto(`${host.replace('//', '//planted:secret@')}/git`)
    await page.goto(elsewhere)
    await post()

    const authorization = `Basic ${Buffer.from('planted:secret').toString('base64')}`
    expect(seen).toEqual([{ site: 'cross-site', cookie: 'session=ada', authorization, status: 403 }])
    expect(await pinned()).toBe(0)
  })

  test('of another port of the same host cannot change anything', async () => {
    const neighbour = await serve((_request, response) => htmlPage(response, 'neighbour'))
    await page.goto(`http://127.0.0.1:${neighbour}`)
    await post()

    expect(seen).toEqual([{ site: 'same-site', cookie: 'session=ada', authorization: undefined, status: 403 }])
    expect(await pinned()).toBe(0)
  })

  test('is not what a page of the host is', async () => {
    await post()

    expect(seen).toEqual([{ site: 'same-origin', cookie: 'session=ada', authorization: undefined, status: 204 }])
    expect(await pinned()).toBe(1)
  })
})

function cookieUser(cookie: string | undefined): ReturnType<typeof authenticate> {
  const name = /(?:^|; )session=(\w+)/.exec(cookie ?? '')?.[1]
  return name === undefined ? null : authenticate(`token ${name}`)
}

function seenOf({ headers }: IncomingMessage, status: number): Seen {
  return { site: headers['sec-fetch-site'], cookie: headers.cookie, authorization: headers.authorization, status }
}

function htmlPage(
  response: { setHeader(name: string, value: string): unknown; end(text: string): unknown },
  text: string,
): void {
  response.setHeader('Content-Type', 'text/html')
  response.end(`<!doctype html><title>${text}</title><body>${text}</body>`)
}
