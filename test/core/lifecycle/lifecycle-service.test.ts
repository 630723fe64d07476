import { describe, expect, test } from 'vitest'
import { aForge, codeOf, olga } from '../a-forge.ts'

const issue = (id: number) => ({ id, repositoryId: 10, kind: 'issue' }) as const
const block = (organizationId: number, userId: number) =>
  ({ organizationId, account: { kind: 'user', id: userId } }) as const

describe('the lifecycle service', () => {
  test('takes blocks and grants of a deleted user away, and says how many', async () => {
    const forge = aForge()
    await forge.badges.catalogue.define(olga, { slug: 'owl' })
    await forge.badges.grant(olga, { userId: 9, slugs: ['owl'] })
    await forge.blocks.block(olga, block(5, 9))
    await forge.blocks.block(olga, block(6, 9))
    await forge.blocks.block(olga, block(6, 8))
    await forge.lifecycle.userDeleted(9)

    const [event] = (await forge.events.list({})).items
    expect([event?.type, event?.userId, event?.data]).toEqual(['user.deleted', '9', { blocks: 2, grants: 1 }])
    expect((await forge.blocks.list(olga, { organizationId: 5 })).total).toBe(0)
    expect((await forge.blocks.list(olga, { organizationId: 6 })).items.map(({ userId }) => userId)).toEqual(['8'])
    expect(await codeOf(() => forge.blocks.block(olga, block(5, 9)))).toBe('USER_NOT_FOUND')
    await forge.badges.catalogue.remove(olga, 'owl')
  })

  test('takes a deleted issue off its board and closes the gap', async () => {
    const forge = aForge()
    await forge.pins.pin(olga, issue(7))
    await forge.pins.pin(olga, issue(8))
    await forge.lifecycle.issueDeleted(issue(7))

    const pins = await forge.pins.list(olga, { repositoryId: 10, kind: 'issue' })
    expect(pins.map(({ issueId, position }) => [issueId, position])).toEqual([['8', 1]])
    const [event] = (await forge.events.list({})).items
    expect([event?.type, event?.issueId, event?.data]).toEqual(['issue.deleted', '7', { wasPinned: true }])
  })
})
