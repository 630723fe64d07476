import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { MARIADB, onDatabases, POSTGRES, SQLITE } from '../../databases.ts'
import { freePort } from '../../http.ts'

export const ROOT: string = resolve(import.meta.dirname, '../../..')

const KINDS = { PostgreSQL: 'postgres', MariaDB: 'mysql', SQLite: 'sqlite' } as const

/** How long a build may take, with what it installs, in milliseconds. */
const BUILD = 600_000

/** Puts a native driver, which is no part of a bundle, beside it. */
export function copyNativeDriver(folder: string): void {
  for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path']) {
    cpSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
  }
}

/**
 * Defines tests that a build serves from a URL of each database, away from where it was built.
 *
 * @param build - builds into a folder, and returns the program
 */
export function servesElsewhere(build: (folder: string) => Promise<string>): void {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bundle-'))
  let file: string
  beforeAll(async () => {
    file = await build(folder)
  }, BUILD)
  afterAll(() => rmSync(folder, { recursive: true }))

  onDatabases([POSTGRES, MARIADB, SQLITE], (open) => {
    test('serves', async () => {
      const { url, kind } = await open()
      const origin = await started(file, [KINDS[kind.name as keyof typeof KINDS], url]) // the kinds above
      const pins = `${origin}/repos/acme/rocket/issues`

      expect((await fetch(`${pins}/1/pin`, { method: 'POST' })).status).toBe(204)
      expect(await (await fetch(`${pins}/pinned`)).json()).toEqual([{ id: '7', pin_order: 1 }])
    })
  })
}

/** Runs a host until the test ends, and returns its origin once it answers. */
async function started(file: string, words: readonly string[]): Promise<string> {
  const port = await freePort()
  const host = spawn(process.execPath, [file, ...words], {
    cwd: dirname(file),
    env: { PORT: String(port), HOST: '127.0.0.1', HOSTNAME: '127.0.0.1' }, // Nitro reads HOST, Next HOSTNAME
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exit = once(host, 'exit')
  onTestFinished(async () => {
    host.kill()
    await exit
  })
  const origin = `http://127.0.0.1:${port}`
  while (host.exitCode === null) {
    if (await fetch(origin).catch(() => undefined)) return origin
    await setTimeout(50)
  }
  throw new Error('the host ended')
}
