import { describe, expect, test } from 'vitest'
import { isForgeError } from '../../src/index.ts'
import { createTestForge } from '../../src/testing/testing.ts'

describe('a test forge', () => {
  test('brings a small world of its own', async () => {
    const { forge, user, issue } = await createTestForge()
    const pin = await forge.pins.pin(user('olga'), issue('acme/rocket#2'))
    expect(pin.position).toBe(1)
    await expect(forge.pins.pin(user('sam'), issue('acme/rocket#2'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('takes a fixture, and what is pinned, blocked and held in it', async () => {
    const { forge, user, issue, events } = await createTestForge({
      fixture: {
        users: [{ username: 'olga' }, { username: 'sam' }],
        organizations: [{ name: 'acme', owners: ['olga'], blocks: [{ user: 'sam', note: 'spam' }] }],
        repositories: [{ owner: 'acme', name: 'rocket', issues: [{ index: 4, title: 'x', poster: 'sam' }], pins: [4] }],
        badges: [{ slug: 'owl', holders: ['sam'] }],
      },
    })
    const { repositoryId } = issue('acme/rocket#4')
    expect(await forge.pins.list('anonymous', { repositoryId, kind: 'issue' })).toMatchObject([{ position: 1 }])
    expect(await forge.badges.heldBy('system', user('sam').id)).toMatchObject([{ badge: { slug: 'owl' } }])
    expect((await forge.blocks.list(user('olga'), { organizationId: '3' })).items).toMatchObject([
      { note: 'spam', blockedBy: null },
    ])
    expect(events).toEqual([])
  })

  test('refuses a fixture with mistakes', async () => {
    const refusal = await createTestForge({ fixture: { user: [] } }).catch((error: unknown) => error)
    expect(isForgeError(refusal, 'INVALID_INPUT')).toBe(true)
  })

  test('records what the policy was asked, refused or not', async () => {
    const { forge, user, issue, asked } = await createTestForge()
    const { repositoryId } = issue('acme/rocket#1')
    await forge.pins.pin(user('olga'), issue('acme/rocket#1'))
    await forge.pins.unpin(user('sam'), issue('acme/rocket#1')).catch(() => undefined)
    await forge.pins.pin('system', issue('acme/rocket#2'))
    expect(asked).toEqual([
      { action: 'pins.write', repositoryId },
      { action: 'pins.write', repositoryId },
    ])
  })

  test('records the events that are committed', async () => {
    const { forge, user, issue, events } = await createTestForge()
    await forge.pins.pin(user('olga'), issue('acme/rocket#1'))
    await forge.pins.pin(user('sam'), issue('acme/rocket#2')).catch(() => undefined)
    expect(events.map((event) => [event.type, event.actorId])).toEqual([['issue.pinned', user('olga').id]])
  })

  test('denies the actions named, to whoever asks', async () => {
    const { forge, user, issue } = await createTestForge({ deny: ['pins.write'] })
    const refused = forge.pins.pin(user('alice'), issue('acme/rocket#1'))
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN', details: { action: 'pins.write' } })
  })

  test('takes a policy in the place of the ordinary one', async () => {
    const { forge, user, issue } = await createTestForge({ policy: { authorize: () => ({ allow: true }) } })
    await expect(forge.pins.pin(user('sam'), issue('acme/rocket#1'))).resolves.toMatchObject({ position: 1 })
  })

  test('takes limits', async () => {
    const { forge, user, issue } = await createTestForge({ limits: { maxPins: { issue: 0 } } })
    const refused = forge.pins.pin(user('olga'), issue('acme/rocket#1'))
    await expect(refused).rejects.toMatchObject({ code: 'PIN_LIMIT_REACHED' })
  })

  test('has a clock that stands still until it is told', async () => {
    const { forge, clock, user, issue } = await createTestForge({ now: new Date('2030-01-01T00:00:00Z') })
    const first = await forge.pins.pin(user('olga'), issue('acme/rocket#1'))
    clock.advance(1500)
    const second = await forge.pins.pin(user('olga'), issue('acme/rocket#2'))
    clock.set(new Date('2031-01-01T00:00:00Z'))
    const third = await forge.pins.pin(user('olga'), issue('acme/rocket#3'))
    expect([first, second, third].map((pin) => pin.pinnedAt.toISOString())).toEqual([
      '2030-01-01T00:00:00.000Z',
      '2030-01-01T00:00:01.500Z',
      '2031-01-01T00:00:00.000Z',
    ])
  })

  test('refuses a clock without a time', async () => {
    const { clock } = await createTestForge()
    expect(() => clock.set(new Date('never'))).toThrow(TypeError)
  })

  test('finds users in any case', async () => {
    const { user } = await createTestForge()
    expect(user('ALICE')).toEqual({ id: user('alice').id, username: 'alice' })
  })

  test.each([
    ['nobody', 'the fixture has no user "nobody"'],
    ['acme', 'the fixture has no user "acme"'],
  ])('tells that there is no user %s', async (name, message) => {
    const { user } = await createTestForge()
    expect(() => user(name)).toThrow(new TypeError(message))
  })

  test.each([
    ['acme/rocket#99', 'the fixture has no issue "acme/rocket#99"'],
    ['acme/nothing#1', 'the fixture has no repository "acme/nothing"'],
    ['acme/rocket#0', '"acme/rocket#0" does not name an issue: write it as owner/repository#index'],
  ] as const)('tells that there is no issue %s', async (path, message) => {
    const { issue } = await createTestForge()
    expect(() => issue(path)).toThrow(new TypeError(message))
  })

  test('is one world of its own each time', async () => {
    const [one, other] = await Promise.all([createTestForge(), createTestForge()])
    await one.forge.pins.pin(one.user('olga'), one.issue('acme/rocket#1'))
    const { repositoryId } = other.issue('acme/rocket#1')
    expect(await other.forge.pins.list('anonymous', { repositoryId, kind: 'issue' })).toEqual([])
  })
})
