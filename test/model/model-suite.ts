import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SqliteHandle } from '../../src/storage/sqlite.ts'
import { ForgeModel } from './forge-model.ts'
import type { ForgeUnderTest } from './forge-under-test.ts'
import { EVERY_READ } from './reads.ts'
import { importedInto, replay } from './replay.ts'
import type { Step } from './step.ts'
import { FIRST_STEPS, listsOf } from './step.ts'
import { ISSUES, REPOSITORIES } from './world.ts'

const LONG = process.env['FORGELET_TEST_LONG'] === '1' ? 10 : 1
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for

/** A forge that the model is compared with. */
export type Subject = ForgeUnderTest<undefined> | ForgeUnderTest<SqliteHandle>

/**
 * Compares forges with the model.
 *
 * @param runs - how many lists of steps the short form generates
 */
export function modelSuite(name: string, open: () => Subject, runs: number): void {
  describe(`a forge on ${name}`, { timeout: MAX_TEST_MS }, () => modelTests(open, runs))
}

function modelTests(open: () => Subject, runs: number): void {
  async function withForge(work: (subject: Subject) => Promise<void>): Promise<void> {
    const subject = open()
    try {
      await subject.migrate()
      await work(subject)
    } finally {
      await subject.forge.close()
    }
  }

  test('agrees with the model on every answer, the whole state and every event, after every step', async () => {
    const steps = listsOf((step) => fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }))
    const property = fc.asyncProperty(steps, (steps) => withForge((forge) => agree(forge, steps)))
    await fc.assert(property, { numRuns: runs * LONG })
  })

  test('has events that explain its whole state, even after concurrent steps', async () => {
    const batches = listsOf((step) => fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 6, size: 'max' }))
    const property = fc.asyncProperty(batches, (batches) => withForge((forge) => explain(forge, batches)))
    await fc.assert(property, { numRuns: runs * LONG })
  })
}

async function agree(forge: Subject, steps: readonly Step[]): Promise<void> {
  const model = new ForgeModel()
  for (const [index, step] of [...FIRST_STEPS, ...steps].entries()) {
    const expected = model.take(step, index)
    expect(await forge.take(step, index), `step ${index}, ${step.call}`).toEqual(expected)
    for (const read of EVERY_READ) {
      const seen = model.take(read, index)
      expect(await forge.take(read, index), `${read.call} after step ${index}, ${step.call}`).toEqual(seen)
    }
    if (step.call === 'import' || step.call === 'inspect') {
      const { issues, comments } = model.state.hosted(step.repositoryId)
      expect(forge.host.titlesOf(step.repositoryId), `issues after step ${index}`).toEqual(issues)
      expect(forge.host.textsOf(step.repositoryId), `comments after step ${index}`).toEqual(comments)
    }
  }

  const events = await forge.events()
  expect(forge.comparable(events)).toEqual(model.state.events)
  expect(forge.received).toEqual(events)
}

async function explain(forge: Subject, batches: readonly (readonly Step[])[]): Promise<void> {
  for (const [index, batch] of [FIRST_STEPS, ...batches].entries())
    await Promise.all(batch.map((step) => forge.take(step, index)))

  const events = await forge.events()
  const reported = replay(events, boardOf)
  const { pins, blocks, badges } = forge.forge
  for (const [board, issueIds] of reported.boards) {
    const issue = ISSUES.find((one) => boardOf(one.id) === board) ?? fail(board)
    expect((await pins.list('system', issue)).map((pin) => pin.issueId)).toEqual(issueIds)
  }
  for (const [organizationId, userIds] of reported.blocks) {
    const page = await blocks.list('system', { organizationId, limit: 1000 })
    expect(page.items.map((block) => block.userId)).toEqual(userIds)
    expect(page.total).toBe(userIds.length)
  }
  for (const [userId, slugs] of reported.grants) {
    expect((await badges.heldBy('system', userId)).map((grant) => grant.badge.slug)).toEqual(slugs)
  }
  for (const repositoryId of REPOSITORIES) {
    const { issues, comments } = importedInto(repositoryId, events)
    expect(forge.host.issuesOf(repositoryId)).toHaveLength(issues)
    expect(forge.host.commentsOf(repositoryId)).toHaveLength(comments)
  }
  expect((await badges.catalogue.list('system', { limit: 1000 })).items.map((badge) => badge.slug)).toEqual(
    reported.catalogue,
  )
}

function boardOf(issueId: string): string {
  const issue = ISSUES.find((one) => one.id === issueId) ?? fail(issueId)
  return `${issue.repositoryId}/${issue.kind}`
}

function fail(name: string): never {
  throw new RangeError(`nothing in the world is called ${name}`)
}
