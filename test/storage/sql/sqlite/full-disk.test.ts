import { spawnSync } from 'node:child_process'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { blockedBy } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { block } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { scriptPath } from '../../../durability/child-process.ts'
import { newFile, openHandle, openStorage } from '../database-files.ts'

interface Reported {
  readonly kept: readonly string[]
  readonly seen: readonly string[]
  readonly errors: readonly { readonly code: string; readonly details: unknown; readonly message: string }[]
}

test('a commit that the disk refuses rejects its whole batch, and the batches before are whole', async () => {
  const file = newFile()
  const script = scriptPath('../storage/sql/sqlite/full-disk.mjs')
  const limited = `trap '' XFSZ; ulimit -f 600; exec "$@"`
  const { stdout, stderr } = spawnSync('sh', ['-c', limited, 'sh', process.execPath, script, file], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  const reported: Reported = JSON.parse(stdout)

  expect(reported.errors).toHaveLength(20)
  for (const error of reported.errors) {
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } })
    expect(error.message).not.toContain(file)
  }
  expect(reported.kept.length).toBeGreaterThan(0)
  expect(reported.seen).toEqual(reported.kept)
  expect(await blockedBy(await openStorage(file), '1')).toEqual(reported.kept)
})

test('a database that may not grow is STORAGE_UNAVAILABLE, and what was answered is there', async () => {
  class Small extends Database {
    constructor(file: string) {
      super(file)
      this.pragma('max_page_count = 60')
    }
  }
  const file = newFile()
  const storage = await openStorage(new Small(file))
  const kept: string[] = []
  const refused: unknown[] = []
  for (let n = 1; refused.length === 0; n += 1) {
    await block(storage, '1', String(n), { note: 'n'.repeat(255) }).then(
      () => kept.push(String(n)),
      (error) => refused.push(error),
    )
  }

  expect(refused).toMatchObject([{ code: 'STORAGE_UNAVAILABLE', message: 'the disk is full' }])
  expect(await blockedBy(storage, '1')).toEqual(kept)
  expect(openHandle(file).pragma('integrity_check', { simple: true })).toBe('ok')
})
