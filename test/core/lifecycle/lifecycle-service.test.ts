import { expect, test } from 'vitest'
import { aForge, codeOf, olga } from '../a-forge.ts'

// Blocks, and what goes with users and organizations: ../blocks/block-service.test.ts.

const issue = { id: 7, repositoryId: 10, kind: 'issue' } as const

test('a deletion is reported once, with what was removed, and what is gone stays gone', async () => {
  const forge = aForge()
  for (const id of [7, 8]) await forge.pins.pin(olga, { ...issue, id })
  await forge.pins.pin(olga, { ...issue, id: 9, kind: 'pullRequest' })
  await forge.badges.catalogue.define(olga, { slug: 'owl' })
  await forge.badges.grant(olga, { userId: 9, slugs: ['owl'] })
  const { cursor: after } = await forge.events.read()
  for (const _ of ['once', 'twice']) {
    await forge.lifecycle.issueDeleted(issue)
    await forge.lifecycle.issueDeleted({ ...issue, id: 6 })
    await forge.lifecycle.repositoryDeleted(10)
    await forge.lifecycle.userDeleted(9)
  }

  expect((await forge.events.read({ after })).events).toMatchObject([
    { type: 'issue.deleted', data: { wasPinned: true }, repositoryId: '10', issueId: '7', actorId: null },
    { type: 'issue.deleted', data: { wasPinned: false }, repositoryId: '10', issueId: '6' },
    { type: 'repository.deleted', data: { pins: 2 }, repositoryId: '10', issueId: null },
    { type: 'user.deleted', data: { blocks: 0, grants: 1 }, userId: '9' },
  ])
  expect(await codeOf(() => forge.pins.pin(olga, issue))).toBe('REPOSITORY_NOT_FOUND')
  expect(await codeOf(() => forge.pins.pin(olga, { ...issue, repositoryId: 11 }))).toBe('ISSUE_NOT_FOUND')
  expect(await codeOf(() => forge.badges.heldBy(olga, 9))).toBe('USER_NOT_FOUND')
})
