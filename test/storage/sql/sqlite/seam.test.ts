import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { define, grant } from '../../../../src/testing/storage-contract/samples/badges.ts'
import { block } from '../../../../src/testing/storage-contract/samples/blocks.ts'
import { outbox } from '../../../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, issuesOn, pin } from '../../../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../../../src/testing/storage-contract/samples/retirements.ts'
import type { Asked } from '../bare-handles.ts'
import { bareHandle } from '../bare-handles.ts'
import { newFile, openStorage } from '../database-files.ts'
import { pinning } from '../pinning.ts'

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}

describe('a handle that has the seam and nothing else', () => {
  test('carries a whole forge, is bound strings, numbers and null, and is asked for rows where a statement gives them', async () => {
    const asked: Asked[] = []
    const storage = await openStorage(bareHandle((one) => void asked.push(one)))
    asked.length = 0
    await define(storage, 'night-owl')
    await grant(storage, '2', ['night-owl'])
    await Promise.all([pin(storage, BOARD, '1'), pin(storage, BOARD, '2'), block(storage, '3', '2')])
    await retire(storage, { thing: 'issue', issueId: '1', repositoryId: '10', kind: 'issue' })
    await retire(storage, { thing: 'user', userId: '2' })
    await storage.events.list({ userId: '2', types: ['user.blocked'] }, { from: { page: 1 }, limit: 10 })
    await outbox(storage)

    expect(await issuesOn(storage, BOARD)).toEqual(['2'])
    expect(asked.length).toBeGreaterThan(50)
    const kinds = new Set(asked.flatMap(({ parameters }) => parameters.map(kindOf)))
    expect([...kinds].sort()).toEqual(['null', 'number', 'string'])
    for (const { sql, by } of asked) {
      const givesRows = /^select|returning|^pragma database_list/.test(sql)
      expect({ sql, givesRows: by !== 'run' }).toEqual({ sql, givesRows })
    }
  })

  test('is given an id as a number only where that is exact', async () => {
    const asked: Asked[] = []
    const storage = await openStorage(bareHandle((one) => void asked.push(one)))
    const ids = ['999999999999999', '-99999999999999', '9007199254740993', '-9223372036854775808']
    for (const userId of ids) await block(storage, '20', userId)
    asked.length = 0
    for (const userId of ids)
      expect(await storage.blocks.find({ organizationId: '20', userId })).toMatchObject({ userId })

    expect(asked.map(({ parameters }) => parameters)).toEqual([
      [20, 999_999_999_999_999],
      [20, -99_999_999_999_999],
      [20, '9007199254740993'],
      [20, '-9223372036854775808'],
    ])
  })

  test('is asked for one row where a key finds it, and not for the columns of the key', async () => {
    const asked: Asked[] = []
    const storage = await openStorage(bareHandle((one) => void asked.push(one)))
    await block(storage, '20', '30')
    asked.length = 0
    await storage.blocks.find({ organizationId: '20', userId: '30' })

    expect(asked).toHaveLength(1)
    expect(asked[0]?.by).toBe('get')
    expect(asked[0]?.sql.split(' from ')[0]).not.toMatch(/seq|organization_id|user_id/)
  })
})

test('statements that keep their handle until they are finalized are released: the host’s at once, ours at the end', async () => {
  const open = { ours: 0, host: 0 }
  const hosts: Database.Database[] = []
  /** As a handle of bun:sqlite. */
  class Finalized extends Database {
    override prepare(sql: string) {
      const whose = hosts[0] === this ? 'host' : 'ours'
      open[whose] += 1
      const finalize = () => {
        open[whose] -= 1
      }
      return Object.assign(super.prepare(sql), { finalize }) as never // the types of better-sqlite3 have no such method
    }
  }
  Object.defineProperty(Finalized.prototype, 'unsafeMode', { value: undefined }) // bun:sqlite has none
  const handle = new Finalized(newFile())
  hosts.push(handle)
  const storage = await openStorage(handle)
  handle.exec('begin immediate')
  storage.pinBoards.update(BOARD, pinning('1', { transaction: handle }))
  handle.exec('commit')
  await pin(storage, BOARD, '2')
  expect([open.host, open.ours > 0]).toEqual([0, true])
  await storage.close()

  expect(open).toEqual({ ours: 0, host: 0 })
  handle.close()
})
