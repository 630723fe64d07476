import { afterAll, expect, test } from 'vitest'
import { watchCrowd } from './crowd.ts'
import type { StorageKind } from './storage-kind.ts'

const CHANGES = process.env['LONG'] === '1' ? 300 : 30
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

/** Defines the test of many consumers beside many writers, on one kind of storage. */
export function consumedBy<Tx>(kind: StorageKind<Tx>): void {
  afterAll(kind.end)

  test('three that consume one name beside twenty writers get every committed event once, in order', {
    timeout: MAX_TEST_MS,
  }, async () => {
    const reported = await watchCrowd(kind, CHANGES)

    expect(reported.outbox.toSorted()).toEqual(reported.committed.toSorted())
    expect(reported.consumed).toEqual(reported.outbox)
    expect(reported.consumers.size).toBeGreaterThan(1)
  })
}
