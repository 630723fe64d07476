import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { SqliteHandle } from '../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { blockSteps, filterBlocked, listBlocks } from './blocks.ts'
import { ForgeModel } from './forge-model.ts'
import { comparable, ForgeUnderTest } from './forge-under-test.ts'
import { farewellSteps, memberSteps } from './lifecycle.ts'
import type { Step } from './step.ts'
import { ORGANIZATIONS, stepOf, USERS } from './step.ts'

// Blocks, members and deletions, which act on each other. What pins and badges do by themselves: test/core/pins and test/core/badges.

const LONG = process.env['LONG'] === '1' ? 10 : 1
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

const folder = mkdtempSync(join(tmpdir(), 'forgelet-model-'))
let files = 0

afterAll(() => rmSync(folder, { recursive: true }))

/** A forge that the model is compared with. */
type Subject = ForgeUnderTest<undefined> | ForgeUnderTest<SqliteHandle>

/** The forges, and how many lists of steps the short form generates for each. */
const SUBJECTS: readonly (readonly [storage: string, open: () => Subject, runs: number])[] = [
  ['memory', () => new ForgeUnderTest(memoryStorage()), 60],
  ['a SQLite file', () => new ForgeUnderTest(sqliteStorage(join(folder, `${files++}.sqlite`))), 10],
]

/** Reads everything there is, to compare after a step that changed something. */
const EVERY_READ: readonly Step[] = [
  ...[...ORGANIZATIONS.map((organizationId) => ({ organizationId })), ...USERS.map((blockerId) => ({ blockerId }))].map(
    (blocker) => stepOf('list', listBlocks, 'system', { ...blocker, page: 1, limit: 1000 }),
  ),
  ...ORGANIZATIONS.map((organizationId) =>
    stepOf('filterBlocked', filterBlocked, 'system', { organizationId, userIds: USERS }),
  ),
]

const step = fc.oneof(
  { weight: 29, arbitrary: fc.oneof(...blockSteps, ...memberSteps) },
  { weight: 1, arbitrary: fc.oneof(...farewellSteps) },
)

test.each(SUBJECTS)(
  'a forge on %s agrees with the model on every answer, the whole state and every event, after every step',
  async (_storage, open, runs) => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      const subject = open()
      try {
        await subject.migrate()
        await agree(subject, steps)
      } finally {
        await subject.forge.close()
      }
    })
    await fc.assert(property, { numRuns: runs * LONG })
  },
  MAX_TEST_MS,
)

async function agree(subject: Subject, steps: readonly Step[]): Promise<void> {
  const model = new ForgeModel()
  for (const [index, one] of steps.entries()) {
    const expected = model.take(one, index)
    expect(await subject.take(one, index), `step ${index}, ${one}`).toEqual(expected)
    for (const read of EVERY_READ) {
      const seen = model.take(read, index)
      expect(await subject.take(read, index), `${read} after step ${index}, ${one}`).toEqual(seen)
    }
  }

  const events = await subject.events()
  expect(comparable(events)).toEqual(model.events)
  expect(subject.received).toEqual(events)
}
