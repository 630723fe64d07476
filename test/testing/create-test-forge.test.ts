import { describe, expect, test } from 'vitest'
import { createTestForge } from '../../app/testing/testing.ts'

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

  test('records what the policy was asked, refused or not, and the events that are committed', async () => {
    const { forge, user, issue, asked, events } = await createTestForge()
    const { repositoryId } = issue('acme/rocket#1')
    await forge.pins.pin(user('olga'), issue('acme/rocket#1'))
    await forge.pins.unpin(user('sam'), issue('acme/rocket#1')).catch(() => undefined)
    await forge.pins.pin('system', issue('acme/rocket#2'))

    expect(asked).toEqual(Array.from({ length: 2 }, () => ({ action: 'pins.write', repositoryId })))
    expect(events.map(({ type, actorId }) => [type, actorId])).toEqual([
      ['issue.pinned', user('olga').id],
      ['issue.pinned', null],
    ])
  })

  test('denies the named actions to every caller', async () => {
    const { forge, user, issue } = await createTestForge({ deny: ['pins.write'] })
    const refused = forge.pins.pin(user('alice'), issue('acme/rocket#1'))
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN', details: { action: 'pins.write' } })
  })

  test('has a clock that changes only when it is set', async () => {
    const { forge, clock, user, issue } = await createTestForge({ now: new Date('2030-01-01T00:00:00Z') })
    const first = await forge.pins.pin(user('olga'), issue('acme/rocket#1'))
    clock.advance(1500)
    const second = await forge.pins.pin(user('olga'), issue('acme/rocket#2'))
    clock.set(new Date('2031-01-01T00:00:00Z'))
    expect(() => clock.set(new Date('never'))).toThrow(TypeError)
    const third = await forge.pins.pin(user('olga'), issue('acme/rocket#3'))
    expect([first, second, third].map((pin) => pin.pinnedAt.toISOString())).toEqual([
      '2030-01-01T00:00:00.000Z',
      '2030-01-01T00:00:01.500Z',
      '2031-01-01T00:00:00.000Z',
    ])
  })

  test.each([
    ['user', 'anonymous', 'the fixture has no user "anonymous"'],
    ['user', 'acme', 'the fixture has no user "acme"'],
    ['issue', 'acme/rocket#99', 'the fixture has no issue "acme/rocket#99"'],
    ['issue', 'acme/nothing#1', 'the fixture has no repository "acme/nothing"'],
    ['issue', 'acme/rocket#0', '"acme/rocket#0" does not name an issue: write it as owner/repository#index'],
  ] as const)('reports that the %s %s does not exist', async (what, name, message) => {
    const forge = await createTestForge()
    expect(() => Reflect.apply(forge[what], undefined, [name])).toThrow(new TypeError(message))
  })

  test('finds the users, organizations and repositories of its fixture, in any case', async () => {
    const { user, organization, repository, issue } = await createTestForge()
    expect(user('ALICE')).toEqual({ id: user('alice').id, username: 'alice' })
    expect(organization('ACME')).toEqual({ id: '5', name: 'acme' })
    expect(repository('Acme/ROCKET')).toEqual({
      id: issue('acme/rocket#1').repositoryId,
      ownerId: organization('acme').id,
      name: 'rocket',
    })
  })

  test('makes an organization that its fixture does not have, once', async () => {
    const { forge, user, organization } = await createTestForge()
    const nova = organization('nova')
    expect(organization('Nova')).toEqual(nova)
    expect(nova.id).not.toBe(organization('acme').id)

    const target = { organizationId: nova.id, account: { kind: 'user', id: user('sam').id } } as const
    await expect(forge.blocks.block(user('olga'), target)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await forge.blocks.block(user('alice'), target)
    expect((await forge.blocks.list('system', { organizationId: nova.id })).items).toHaveLength(1)
    expect((await forge.blocks.list('system', { organizationId: organization('acme').id })).items).toEqual([])
  })

  test('makes a repository that its fixture does not have, once, and its owner', async () => {
    const { forge, user, organization, repository } = await createTestForge()
    const ship = repository('nova/ship')
    expect(repository('nova/ship')).toEqual(ship)
    expect(ship.ownerId).toBe(organization('nova').id)
    expect(repository('acme/ship').ownerId).toBe(organization('acme').id)
    expect(repository('sam/ship').ownerId).toBe(user('sam').id)

    const issue = { id: 900, repositoryId: ship.id, kind: 'issue' } as const
    await expect(forge.pins.pin(user('olga'), issue)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await forge.pins.pin(user('alice'), issue)).toMatchObject({ position: 1 })
    expect(await forge.pins.list('anonymous', { repositoryId: ship.id, kind: 'issue' })).toHaveLength(1)
    const sams = { ...issue, id: 901, repositoryId: repository('sam/ship').id }
    expect(await forge.pins.pin(user('sam'), sams)).toMatchObject({ position: 1 })
  })

  test('makes neither a repository nor its owner of an invalid name', async () => {
    const { user, organization, repository } = await createTestForge()
    expect(() => organization('sam')).toThrow(new TypeError('"sam" is a user, not an organization'))
    expect(() => organization('no blanks')).toThrow('invalid fixture: /organizations/0/name: must be a name without')
    expect(() => Reflect.apply(repository, undefined, ['acme'])).toThrow(
      new TypeError('"acme" does not name a repository: write it as owner/repository'),
    )
    expect(() => repository('nova/no blanks')).toThrow('invalid fixture: /repositories/0/name: must be a name without')
    expect(() => user('nova')).toThrow(TypeError)
    expect(organization('nova').id).toBe('6')
  })

  test('runs beforeCommit in every change, but not for its fixture', async () => {
    const seen: string[] = []
    const { forge, user, issue, events } = await createTestForge({
      fixture: {
        users: [{ username: 'olga' }],
        repositories: [{ owner: 'olga', name: 'a', issues: [{ index: 1, title: 'x', poster: 'olga' }], pins: [1] }],
      },
      beforeCommit(written) {
        for (const { type } of written) seen.push(type)
        if (written.some(({ type }) => type === 'issue.unpinned')) throw new Error('no more')
      },
    })
    expect(seen).toEqual([])

    await expect(forge.pins.unpin(user('olga'), issue('olga/a#1'))).rejects.toThrow('no more')
    expect(seen).toEqual(['issue.unpinned'])
    expect(events).toEqual([])
  })

  test('takes your own users, in the places of those of the fixture', async () => {
    const users = {
      Mia: { id: 7, grade: 'staff' },
      olga: { id: 'OLGA', grade: 'boss' },
      zoe: { id: 2n, grade: 'guest' },
    }
    const { forge, user, organization, issue, asked } = await createTestForge({
      users,
      policy: {
        authorize: (_request, { actor }) =>
          actor !== 'anonymous' && actor.grade === 'boss' ? { allow: true } : { allow: false, reason: 'not the boss' },
      },
      deny: ['badges.grant'],
    })
    expect([user('mia'), user('OLGA')]).toEqual([users.Mia, users.olga])
    expect(() => user('sam')).toThrow(new TypeError('users has no "sam"'))

    expect(await forge.pins.pin(user('olga'), issue('acme/rocket#1'))).toMatchObject({ pinnedBy: 'OLGA' })
    await expect(forge.pins.pin(user('mia'), issue('acme/rocket#2'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const grants = { userId: 7, slugs: ['night-owl'] }
    await expect(forge.badges.grant(user('olga'), grants)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(asked.map(({ action }) => action)).toEqual(['pins.write', 'pins.write', 'badges.grant'])

    const { id: organizationId } = organization('acme')
    const block = (id: number | bigint) =>
      forge.blocks.block('system', { organizationId, account: { kind: 'user', id } })
    await expect(block(7)).rejects.toMatchObject({ code: 'CANNOT_BLOCK_MEMBER' })
    expect(await block(2n)).toMatchObject({ userId: '2' }) // zoe, not the second user of the fixture
  })

  test('has the rules of Gitea for your own users, and gives them what the fixture has', async () => {
    const { forge, user, issue } = await createTestForge<{ readonly id: number }>({
      fixture: {
        users: [{ username: 'olga' }, { username: 'sam' }, { username: 'root', siteAdmin: true }],
        organizations: [{ name: 'acme', owners: ['olga'], blocks: [{ user: 'sam' }] }],
        repositories: [{ owner: 'acme', name: 'rocket', issues: [{ index: 1, title: 'x', poster: 'sam' }] }],
        badges: [{ slug: 'owl', holders: ['sam', 'olga'] }],
      },
      users: { sam: { id: 1 }, root: { id: 30 }, zoe: { id: 3 } },
    })
    const { items } = await forge.badges.holders(user('root'), { slug: 'owl' })
    expect(items.map(({ userId }) => userId).toSorted()).toEqual(['1', 'fixture:1'])
    expect(await forge.blocks.isBlocked({ organizationId: '4', userId: 1 })).toBe(true)
    await forge.pins.pin(user('root'), issue('acme/rocket#1'))
    for (const name of ['sam', 'zoe'])
      await expect(forge.pins.unpin(user(name), issue('acme/rocket#1'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test.each([
    [{ mia: { id: 1 }, MIA: { id: 2 } }, 'one name'],
    [{ mia: { id: 1 }, sam: { id: '1' } }, 'the same id'],
    [{ mia: { id: 1.5 } }, 'users.mia.id must be a safe integer'],
    [{ mia: {} }, 'users.mia.id must be an integer or a string'],
  ])('refuses the users %j', async (users, message) => {
    await expect(Reflect.apply(createTestForge, undefined, [{ users }])).rejects.toThrow(message)
  })
})

test('createTestForge accepts an option that is undefined, also one that it does not have', async () => {
  await expect(createTestForge({ polcy: undefined } as never)).resolves.toBeDefined()
})

test.each([
  ['polcy', { polcy: {} }, 'its options are fixture, policy, deny'],
  ['a policy that is none', { policy: {} }, 'needs policy'],
  ['a time that is no Date', { now: '2026' }, 'needs now'],
  ['users that are no object', { users: 1 }, 'needs users'],
])('createTestForge refuses %s', async (_what, options, message) => {
  await expect(createTestForge(options as never)).rejects.toThrow(message)
})
