import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { installPackages } from '../packages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** In the project, whose packages the test kit needs. */
const folder = join(ROOT, 'node_modules/.cache/forgelet/oldest-better-sqlite3')
const MINUTES = 60_000

// It is compiled where no binary can be fetched.
beforeAll(() => installPackages(folder, ['better-sqlite3@8.0.0']), 5 * MINUTES)

test(
  'the oldest better-sqlite3 of docs/databases.md passes the contract, and the cases of drivers',
  () => {
    const dist = join(folder, 'dist')
    rmSync(dist, { recursive: true, force: true })
    cpSync(join(ROOT, 'dist'), dist, { recursive: true })
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json')) // the package imports itself by its name
    const prove = join(ROOT, 'test/runtimes/prove-driver.mjs')
    const { status, stdout, stderr } = spawnSync(process.execPath, [prove, 'better-sqlite3', dist], {
      encoding: 'utf8',
    })

    expect(status, stdout + stderr).toBe(0)
  },
  5 * MINUTES,
)
