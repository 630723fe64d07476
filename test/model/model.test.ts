import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { SqliteHandle } from '../../src/storage/sqlite.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { ForgeModel } from './forge-model.ts'
import { ForgeUnderTest } from './forge-under-test.ts'
import type { Step } from './step.ts'
import { FIRST_STEPS, listsOf } from './step.ts'
import { KINDS, ORGANIZATIONS, REPOSITORIES, USERS } from './world.ts'

const LONG = process.env['LONG'] === '1' ? 10 : 1
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

const folder = mkdtempSync(join(tmpdir(), 'forgelet-model-'))
let files = 0

afterAll(() => rmSync(folder, { recursive: true }))

/** A forge that the model is compared with. */
type Subject = ForgeUnderTest<undefined> | ForgeUnderTest<SqliteHandle>

/** The forges, and how many lists of steps the short form generates for each. */
const SUBJECTS: readonly (readonly [storage: string, open: () => Subject, runs: number])[] = [
  ['memory', () => new ForgeUnderTest(memoryStorage()), 100],
  ['a SQLite file', () => new ForgeUnderTest(sqliteStorage(join(folder, `${files++}.sqlite`))), 20],
]

/** Reads everything there is, to compare after a step that changed something. */
const EVERY_READ: readonly Step[] = [
  ...REPOSITORIES.flatMap((repositoryId): readonly Step[] => [
    { call: 'allowed', as: 'system', input: repositoryId },
    ...KINDS.map((kind): Step => ({ call: 'listPins', as: 'system', input: { repositoryId, kind } })),
  ]),
  ...ORGANIZATIONS.flatMap((organizationId): readonly Step[] => [
    { call: 'listBlocks', as: 'system', input: { organizationId, page: 1, limit: 1000 } },
    { call: 'filterBlocked', as: 'system', input: { organizationId, userIds: USERS } },
  ]),
  ...USERS.map((userId): Step => ({ call: 'heldBy', as: 'system', input: userId })),
  { call: 'listBadges', as: 'system', input: { page: 1, limit: 1000 } },
]

test.each(SUBJECTS)(
  'a forge on %s agrees with the model on every answer, the whole state and every event, after every step',
  async (_storage, open, runs) => {
    const lists = listsOf((step) => fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }))
    const property = fc.asyncProperty(lists, async (steps) => {
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

async function agree(forge: Subject, steps: readonly Step[]): Promise<void> {
  const model = new ForgeModel()
  for (const [index, step] of [...FIRST_STEPS, ...steps].entries()) {
    const expected = model.take(step, index)
    expect(await forge.take(step, index), `step ${index}, ${step.call}`).toEqual(expected)
    for (const read of EVERY_READ) {
      const seen = model.take(read, index)
      expect(await forge.take(read, index), `${read.call} after step ${index}, ${step.call}`).toEqual(seen)
    }
  }

  const events = await forge.events()
  expect(forge.comparable(events)).toEqual(model.state.events)
  expect(forge.received).toEqual(events)
}
