import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blockedBy } from '../../../../src/testing/testing.ts'
import { newFile, openStorage } from '../database-files.ts'

interface Reported {
  readonly kept: readonly string[]
  readonly seen: readonly string[]
  readonly errors: readonly { readonly code: string; readonly details: unknown; readonly message: string }[]
}

test('a commit that the disk refuses rejects its whole batch, and the batches before are whole', async () => {
  const file = newFile()
  const script = join(import.meta.dirname, 'full-disk.mjs')
  const limited = `trap '' XFSZ; ulimit -f 600; exec "$@"`
  const { stdout, stderr } = spawnSync('sh', ['-c', limited, 'sh', process.execPath, script, file], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  const reported: Reported = JSON.parse(stdout)

  expect(reported.errors).toHaveLength(16)
  for (const error of reported.errors) {
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } })
    expect(error.message).not.toContain(file)
  }
  expect(reported.kept.length).toBeGreaterThan(0)
  expect(reported.seen).toEqual(reported.kept)
  expect(await blockedBy(await openStorage(file), '1')).toEqual(reported.kept)
})
