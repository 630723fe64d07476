import type { Locator, Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeInBrowser } from '../browser.ts'
import type { Running } from '../start-forgelet.ts'
import { startForgelet } from '../start-forgelet.ts'

const fixture = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }, { username: 'sam' }],
  badges: [{ slug: 'night-owl', description: 'Ships after midnight' }],
}

const NOTE = 'A **demo**: [its version](v1/version)'

describeInBrowser('the API page in a browser', (browser) => {
  let running: Running
  let page: Page
  let requested: string[]
  let complaints: string[]

  beforeAll(async () => {
    running = await startForgelet(['--db', ':memory:', '--page-note', NOTE], { fixture })
    return async () => void (await running.stop())
  })

  beforeEach(async () => {
    requested = []
    complaints = []
    page = await browser().newPage()
    page.on('request', (request) => requested.push(request.url()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    await visit(new URL('/api/swagger', running.url).href)
  })

  afterEach(() => page.close())

  async function visit(url: string): Promise<void> {
    await page.goto(url)
    await page.locator('.opblock').first().waitFor()
  }

  async function authorize(token: string): Promise<void> {
    await page.getByRole('button', { name: 'Authorize', exact: true }).first().click()
    await page.getByLabel('auth-bearer-value').fill(token)
    const form = page.locator('.auth-container').filter({ has: page.getByLabel('auth-bearer-value') })
    await form.getByRole('button', { name: 'Apply credentials' }).click()
    await page.locator('.btn-done').first().click()
  }

  /** Opens an operation, fills in the user, and sends it; returns where its answer is shown. */
  async function tryOut(operation: string, username: string): Promise<Locator> {
    const block = page.locator(`[id$="-${operation}"]`)
    await block.locator('.opblock-summary-control').click()
    await block.getByPlaceholder('username').fill(username)
    await block.getByRole('button', { name: 'Execute' }).click()
    const answer = block.locator('.live-responses-table')
    await answer.waitFor()
    return answer
  }

  /** What neither the page nor what it did may have caused. */
  function expectAtHome(): void {
    expect(requested.filter((url) => new URL(url).origin !== new URL(running.url).origin)).toEqual([])
    expect(complaints).toEqual([])
  }

  test('shows every operation of the document, and requests it from the server alone', async () => {
    const document = (await (await fetch(`${running.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    const operations = Object.values(document.paths).flatMap((item) => Object.keys(item))

    expect(await page.locator('.opblock').count()).toBe(operations.length)
    expect(new Set(requested.map((url) => new URL(url).pathname))).toEqual(
      new Set([
        '/api/swagger',
        '/api/swagger/swagger-ui.css',
        '/api/swagger/api-page.css',
        '/api/swagger/swagger-ui-bundle.js',
        '/api/swagger/api-page.js',
        '/api/v1/openapi.json',
      ]),
    )
    expectAtHome()
  })

  test('draws a lock on what needs a credential alone, and shows the note of the server', async () => {
    const lockOf = (operation: string): Locator => page.locator(`[id$="-${operation}"] .authorization__btn`)
    const counts = [lockOf('moveIssuePin'), lockOf('repoListPinnedIssues'), lockOf('getSigningKey')]

    expect(await Promise.all(counts.map((lock) => lock.count()))).toEqual([1, 0, 0])
    const link = page.getByRole('link', { name: 'its version' })
    expect(await (await fetch(new URL((await link.getAttribute('href')) ?? '', page.url()))).json()).toHaveProperty(
      'version',
    )
    expectAtHome()
  })

  test('tries calls out on the server with the token, and shows what came back', async () => {
    await authorize('alice-token')
    const granted = await tryOut('adminAddUserBadges', 'sam')
    const listed = await tryOut('adminListUserBadges', 'sam')

    expect(await granted.locator('.response-col_status').last().textContent()).toContain('204')
    expect(await listed.locator('.response-col_status').last().textContent()).toContain('200')
    expect(await listed.textContent()).toMatch(/"slug": "night-owl".*x-total-count: 1/s)
    expectAtHome()
  })

  test('shows what is refused, and fits on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const refused = await tryOut('adminListUserBadges', 'sam')

    expect(await refused.textContent()).toMatch(/401.*"code": "UNAUTHENTICATED"/s)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
