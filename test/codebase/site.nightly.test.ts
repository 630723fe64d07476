import { execFileSync } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { describeInBrowser } from '../browser.ts'
import type { Running } from '../http.ts'
import { listening } from '../http.ts'
import { ROOT } from '../manual/page.ts'

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }
/** How long the build may take, and the visits of all pages, in milliseconds. */
const PATIENCE = 600_000

/** What is wider than the window on a page: the page itself, or blocks. On a wide page lines of code are wrapped, so that none is scrolled. */
const OVERFLOWS = `(() => {
  const width = document.documentElement.clientWidth
  const shown = (element) => element.textContent.trim().slice(0, 60)
  const blocks = [...document.querySelectorAll('.vp-doc pre, .vp-doc table')]
  const wide = blocks.filter((block) => block.getBoundingClientRect().right > width)
  const scrolled = blocks.filter((block) => width >= 960 && block.matches('pre') && block.scrollWidth > block.clientWidth)
  const pageWidth = document.documentElement.scrollWidth
  return [...(pageWidth > width ? ['the page: ' + pageWidth] : []), ...wide.map(shown), ...scrolled.map(shown)]
})()`

describeInBrowser('the built site', (browser) => {
  const site = mkdtempSync(join(tmpdir(), 'forgelet-site-'))
  let running: Running

  beforeAll(async () => {
    execFileSync('npm', ['run', '--silent', 'docs', '--', '--outDir', site], { cwd: ROOT, stdio: 'pipe' })
    running = await listening(
      createServer((request, response) => {
        const file = join(site, new URL(request.url ?? '', 'http://localhost').pathname)
        if (!existsSync(file)) return void response.writeHead(404).end()
        response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream')
        createReadStream(file).pipe(response)
      }),
    )
    return async () => {
      await running.stop()
      rmSync(site, { recursive: true })
    }
  }, PATIENCE)

  test('code and tables are no wider than the window, on a phone and on a desk', { timeout: PATIENCE }, async () => {
    const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
    const page = await browser().newPage()
    const overflows: Record<string, unknown> = {}
    let blocks = 0
    for (const name of pages) {
      await page.goto(`${running.origin}/${name}`)
      blocks += await page.locator('.vp-doc pre').count()
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 844 })
        const found = await page.evaluate(OVERFLOWS)
        if (String(found) !== '') overflows[`${name} at ${width}`] = found
      }
    }
    await page.close()

    expect(blocks).toBeGreaterThan(200)
    expect(overflows).toEqual({})
  })
})
