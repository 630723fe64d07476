import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'
import { beforeAll, vi } from 'vitest'
import { describeWith, programPath } from './programs.ts'

/** The browser makes no connections of its own, as far as it can be configured. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Defines tests in a real browser, which all of them share. */
export function describeInBrowser(title: string, tests: (browser: () => Browser) => void): void {
  describeWith(['chromium'], title, () => {
    vi.setConfig({ testTimeout: 90_000 }) // a browser on a machine with more to do
    let browser: Browser
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: QUIET })
      return () => browser.close()
    })
    tests(() => browser)
  })
}
