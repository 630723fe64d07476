import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { MARIADB, onDatabases, POSTGRES, SQLITE } from '../../databases.ts'

export const ROOT: string = resolve(import.meta.dirname, '../../..')

const KINDS = { PostgreSQL: 'postgres', MariaDB: 'mysql', SQLite: 'sqlite' } as const

/**
 * Defines tests that a bundle serves from a URL of each database, away from where it was built. A native driver is no part of
 * a bundle: it is beside it, if the bundle was not traced.
 */
export function servesElsewhere(build: (folder: string) => Promise<string>, hasDrivers: boolean): void {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bundle-'))
  let built: Promise<string> | undefined
  afterAll(() => rmSync(folder, { recursive: true }))

  onDatabases([POSTGRES, MARIADB, SQLITE], (open) => {
    test('serves', async () => {
      built ??= build(folder)
      const file = await built
      if (!hasDrivers) {
        for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path']) {
          cpSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
        }
      }
      const { url, kind } = await open()
      const origin = await started(file, [KINDS[kind.name as keyof typeof KINDS], url]) // the kinds above
      const pins = `${origin}/repos/acme/rocket/issues`

      expect((await fetch(`${pins}/1/pin`, { method: 'POST' })).status).toBe(204)
      expect(await (await fetch(`${pins}/pinned`)).json()).toEqual([{ id: '7', pin_order: 1 }])
    })
  })
}

/** Runs a host until the test ends, and returns its origin. */
async function started(file: string, words: readonly string[]): Promise<string> {
  const host = spawn(process.execPath, [file, ...words], {
    cwd: dirname(file),
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    if (host.exitCode === null && host.kill()) await once(host, 'exit')
  })
  return `http://127.0.0.1:${await firstLine(host)}`
}

function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new TypeError('the output is not a pipe')
  return new Promise((found, reject) => {
    createInterface({ input: stdout })
      .on('line', found)
      .on('close', () => reject(new Error('the host ended')))
  })
}
