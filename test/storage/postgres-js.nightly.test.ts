import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { HostTransaction } from '../../src/storage/storage.ts'
import { fromDrizzle } from '../../src/storage/storage.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { BOARD, issuesOn, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { onPostgres } from './driver-hosts.ts'

const folder = mkdtempSync(join(tmpdir(), 'forgelet-drizzle-'))
const load = createRequire(join(folder, 'index.js'))

onPostgres((open) => {
  beforeAll(() => {
    const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
    const packages = ['postgres@3.4.9', 'drizzle-orm@0.45.4']
    execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...packages], { stdio: 'pipe' })
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  test('a transaction of Drizzle on postgres.js is one of the host', async () => {
    const host = await open()
    const storage = postgresStorage<HostTransaction>(host.pool())
    await block(storage, '5', '3')
    const client = load('postgres')(host.url, { max: 2, onnotice: () => undefined })
    const { sql } = load('drizzle-orm')
    const database = load('drizzle-orm/postgres-js').drizzle(client)
    const refused = new Error('the host changed its mind')
    const inside = (issueId: string, end: () => void) =>
      database.transaction(async (open: Parameters<typeof fromDrizzle>[0]) => {
        const transaction = fromDrizzle(open, sql)
        await storage.checkTransaction(transaction)
        expect(await storage.blocks.find({ organizationId: '5', userId: '3' }, transaction)).toMatchObject({
          userId: '3',
        })
        expect(await storage.blocks.find({ organizationId: '5', userId: '4' }, transaction)).toBeUndefined()
        await pin(storage, BOARD, issueId, { transaction })
        end()
      })
    await inside('1', () => undefined)
    const outcome = await outcomeOf(() =>
      inside('2', () => {
        throw refused
      }),
    )
    await client.end()

    expect([outcome, await issuesOn(storage, BOARD)]).toEqual([{ thrown: refused }, ['1']])
  })
})
