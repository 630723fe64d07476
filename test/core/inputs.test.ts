import { describe, expect, test } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { methods } from '../services.ts'
import type { Person } from './a-forge.ts'
import { aForge, olga } from './a-forge.ts'
import type { AskingMethod } from './asking.ts'

type Act = AskingMethod['act']

const organizationId = 5
const userId = 9

/** The methods that take an input and no caller. */
const ofHost: readonly (readonly [method: string, act: Act])[] = [
  ['blocks.isBlocked', ({ blocks }) => blocks.isBlocked({ organizationId, blockerId: 1, userId })],
  ['blocks.refuseBlocked', ({ blocks }) => blocks.refuseBlocked({ organizationId, blockerId: 1, userId })],
  ['blocks.filterBlocked', ({ blocks }) => blocks.filterBlocked({ organizationId, userIds: [8, 9] })],
  ['events.list', ({ events }) => events.list({ types: ['badge.defined'] }, { limit: 5 })],
  ['events.read', ({ events }) => events.read({ limit: 5 })],
  ['lifecycle.memberAdded', ({ lifecycle }) => lifecycle.memberAdded({ organizationId, userId })],
  ['lifecycle.issueDeleted', ({ lifecycle }) => lifecycle.issueDeleted({ id: 7, repositoryId: 10, kind: 'issue' })],
]

/** A forge with an event, whose ports and storage answer later. */
async function laterForge(): Promise<Forge<Person, undefined>> {
  const forge = aForge({
    storage: later(memoryStorage()),
    policy: { authorize: async () => ({ allow: true }) },
    membership: { isMember: async () => false },
    signingKey: { format: 'ssh', publicKey: async () => ({ format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: '"1"' }) },
    issues: {
      issues: async () => [],
      comments: 'none',
      findUsers: async () => [],
      write: async () => undefined,
      attribution: { named: async () => [], attribute: async () => undefined },
    },
  })
  await forge.badges.catalogue.define('system', { slug: 'owl' })
  return forge
}

function later(storage: ForgeStorage<undefined>): ForgeStorage<undefined> {
  return mapMethods(storage, async (call) => {
    await Promise.resolve()
    return call()
  })
}

/** Replaces the calls of the methods of an object and of the objects in it. */
function mapMethods<T extends object>(owner: T, around: (call: () => unknown, given: unknown[]) => unknown): T {
  return new Proxy(owner, {
    get(_owner, name) {
      const member: unknown = Reflect.get(owner, name)
      if (typeof member === 'object' && member !== null) return mapMethods(member, around)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => around(() => Reflect.apply(member, owner, given), given)
    },
  })
}

/** What is read of the inputs of an action after the call that received them has returned. */
async function readLate(act: Act): Promise<readonly string[]> {
  const late: string[] = []
  let isOver = false
  const watched = (input: unknown): unknown => {
    if (typeof input !== 'object' || input === null) return input
    return new Proxy(input, {
      get(target, name) {
        if (isOver) late.push(String(name))
        // The records of an import are read one after the other, while it runs.
        return name === 'records' ? Reflect.get(target, name) : watched(Reflect.get(target, name))
      },
      ownKeys(target) {
        if (isOver) late.push('its keys')
        return Reflect.ownKeys(target)
      },
    })
  }
  const forge = mapMethods(await laterForge(), (call, given) => {
    for (const [index, input] of given.entries()) if (input !== olga) given[index] = watched(input)
    const answer = call()
    isOver = true
    return answer
  })
  await Promise.resolve(act(forge, olga)).catch(() => undefined)
  return late
}

describe('an input may be changed after the call', () => {
  test.each([...methods.map(({ method, act }) => [method, act] as const), ...ofHost])(
    '%s reads nothing of it later',
    async (_method, act) => {
      expect(await readLate(act)).toEqual([])
    },
  )

  test('prune keeps its time', async () => {
    const { events } = await laterForge()
    const before = new Date(0)
    const pruned = events.prune({ before })
    before.setTime(Date.UTC(2100, 0, 1))
    expect(await pruned).toBe(0)
  })
})
