import { AsyncResource } from 'node:async_hooks'
import type Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { storageContract } from '../../app/testing/testing.ts'
import type { MaybePromise, OrganizationBlock } from '../../src/index.ts'
import { ForgeError, isForgeError } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type {
  AggregateStore,
  Change,
  ChangeDecision,
  ForgeStorage,
  Outcome,
  PinRow,
} from '../../src/storage/storage.ts'
import { turns } from '../../src/testing/storage-contract/cases/gate.ts'
import { SQLITE } from '../databases.ts'
import { storageKind } from '../storage/storage-kind.ts'

type Memory = ForgeStorage<undefined>
type Plant = (sound: Memory) => Partial<Memory>

const BOARD = { repositoryId: '10' } as const
const REFERENCE = 'after the same changes'
const ABORTED = 'a change of a pin board is not written without a time, or when its caller has aborted'
const FORTY = 'of forty holders that claim a new or free consumer concurrently, one gets it'
const AHEAD = 'a cursor beyond the last event'
const CLOSED = 'a closed storage refuses every call'
/** The asynchronous context of no call. */
const OUTSIDE = new AsyncResource('outside')
const RETURNED = 'modifying what was returned changes nothing stored'

/** A storage that breaks one rule of docs/storage.md, and the first words of a case that catches it. */
const PLANTED: readonly [fault: string, caughtBy: string, plant: Plant][] = [
  [
    'decides on what it read before it waited',
    'thirty concurrent pins at a limit of 3, on a board that was never used, pin exactly 3',
    within('pinBoards', (pinBoards) => ({
      async update(key, change) {
        const rows = await pinBoards.load(key)
        await turns(1)
        return redeciding(pinBoards, key, change, (decide) => () => decide(rows, change.by.at()))
      },
    })),
  ],
  [
    'decides on an old epoch',
    REFERENCE,
    within('blocks', (blocks) => ({
      update: (key, change) =>
        redeciding(blocks, key, change, (decide) => (state, at) => decide({ ...state, epoch: 0 }, at)),
    })),
  ],
  [
    'raises no epoch where nothing else changes',
    REFERENCE,
    within('blocks', (blocks) => ({
      update: (key, change) =>
        redeciding(blocks, key, change, (decide) => (state, at) => {
          const decision = decide(state, at)
          return decision.state.block === state.block ? { ...decision, state } : decision
        }),
    })),
  ],
  [
    'forgets deleted issues',
    REFERENCE,
    (sound) => ({
      async retire(retirement) {
        const { retired } = retirement
        if (retired.thing !== 'issue') return sound.retire(retirement)
        const removed = { pins: 0, blocks: 0, grants: 0 }
        const outcome = await sound.pinBoards.update(retired, {
          ...retirement,
          decide(rows) {
            const state = rows.filter((row) => row.issueId !== retired.issueId)
            const pins = rows.length - state.length
            return { state, events: [retirement.record({ ...removed, pins })], result: undefined }
          },
        })
        return outcome.events
      },
    }),
  ],
  [
    'leaves a deleted issue on boards of the other kind',
    'a retired issue leaves every board that has it, of any repository and kind',
    (sound) => {
      const left = new Map<string, readonly PinRow[]>()
      return {
        async retire(retirement) {
          const { retired } = retirement
          if (retired.thing === 'issue') {
            const board = { ...BOARD, kind: retired.kind === 'issue' ? 'pullRequest' : 'issue' } as const
            left.set(JSON.stringify(board), await sound.pinBoards.load(board))
          }
          return sound.retire(retirement)
        },
        pinBoards: {
          ...sound.pinBoards,
          load: ({ repositoryId, kind }) =>
            left.get(JSON.stringify({ repositoryId, kind })) ?? sound.pinBoards.load({ repositoryId, kind }),
        },
      }
    },
  ],
  [
    'prepares before it locks',
    'what prepare reads on its transaction is what the decision sees',
    changing(async (store, key, change) => {
      if (change.prepare === undefined) return store.update(key, change)

      const { prepare, ...rest } = change
      const looked = await store.update(key, {
        ...rest,
        beforeCommit: undefined,
        prepare: async (before, transaction) => {
          const result = await prepare(before, transaction)
          return (state) => ({ state, events: [], result })
        },
      })
      await turns(1)
      return store.update(key, { ...rest, decide: looked.result })
    }),
  ],
  [
    'loses what was prepared',
    'a change decides with what its prepare returned',
    changing((store, key, change) =>
      change.prepare === undefined
        ? store.update(key, change)
        : store.update(key, {
            ...change,
            prepare: () => (state) => ({ state, events: [], result: undefined as never }),
          }),
    ),
  ],
  [
    'asks the host after the commit',
    REFERENCE,
    changing(async (store, key, { beforeCommit, ...change }) => {
      const outcome = await store.update(key, change)
      if (outcome.events.length > 0) await beforeCommit?.(outcome.events, undefined as never)
      return outcome
    }),
  ],
  [
    'calls the host in the context of another call',
    'a change calls its host in the asynchronous context of its caller',
    changing((store, key, { beforeCommit, ...change }) =>
      store.update(key, {
        ...change,
        beforeCommit: beforeCommit && ((...given) => OUTSIDE.runInAsyncScope(beforeCommit, undefined, ...given)),
      }),
    ),
  ],
  [
    'reads a board in two halves',
    'a board that is constantly reversed is always read consistently',
    within('pinBoards', (pinBoards) => ({
      async load(key) {
        const first = await pinBoards.load(key)
        await turns(2)
        return [...first.slice(0, 3), ...(await pinBoards.load(key)).slice(3)]
      },
    })),
  ],
  [
    'makes a change twice',
    'a change of a pin board returns the result of its decision and writes the state with its event',
    changing(async (store, key, change) => {
      await store.update(key, change)
      return store.update(key, change)
    }),
  ],
  [
    'does not care that its caller has aborted',
    ABORTED,
    changing((store, key, change) => store.update(key, { ...change, signal: undefined })),
  ],
  [
    'decides at another time than that of its events',
    'a change of a pin board is decided at the time of its events',
    changing((store, key, change) =>
      redeciding(store, key, change, (decide) => (state) => decide(state, change.by.at())),
    ),
  ],
  [
    'forgets the event',
    'a change of a pin board returns the result of its decision and writes the state with its event',
    changing((store, key, change) =>
      redeciding(store, key, change, (decide) => (state, at) => ({ ...decide(state, at), events: [] })),
    ),
  ],
  [
    'returns the last event again',
    REFERENCE,
    within('events', (events) => ({
      async read({ after, limit }) {
        const page = await events.read({ after, limit })
        if (page.events.length < 2) return page
        return { ...page, cursor: (await events.read({ after, limit: page.events.length - 1 })).cursor }
      },
    })),
  ],
  [
    'gives a lease to every holder',
    FORTY,
    ({ events }) => ({ events: { ...events, claim: ({ name }, ms) => events.claim({ name, holder: 'any' }, ms) } }),
  ],
  [
    'gives a renewed lease no more time',
    'an expired lease is free, and its former holder moves nothing',
    within('events', ({ claim }) => {
      let [holder, end] = ['', 0]
      return {
        claim(consumer, ms) {
          const now = Date.now()
          if (consumer.holder !== holder || end <= now) [holder, end] = [consumer.holder, now + ms]
          return claim(consumer, Math.min(ms, end - now))
        },
      }
    }),
  ],
  [
    'prunes events of the time before which it was told to',
    'two concurrent prunes remove every event once',
    within('events', ({ prune }) => ({ prune: (before) => prune(new Date(before.getTime() + 1)) })),
  ],
  [
    'lists the events of a user in all organizations',
    REFERENCE,
    within('events', ({ list }) => ({
      list: ({ organizationId, ...rest }, query) => list(rest.userId ? rest : { organizationId, ...rest }, query),
    })),
  ],
  [
    'lists the events of an actor in all repositories',
    REFERENCE,
    within('events', ({ list }) => ({
      list: ({ repositoryId, ...rest }, query) => list(rest.actorId ? rest : { repositoryId, ...rest }, query),
    })),
  ],
  [
    'has no position for an issue that it has placed before',
    'positions and badges are found for none, repeated, unknown and 70,000 ids',
    within('pinBoards', ({ positions }) => ({
      async positions(issues) {
        const placed = new Set<string>()
        const found = await positions(issues)
        return found.map((position, index) => {
          const { size } = placed
          return placed.add(issues[index]?.issueId ?? '').size > size ? position : undefined
        })
      },
    })),
  ],
  [
    'numbers its events after beforeCommit',
    'a change of a pin board returns the result of its decision and writes the state with its event',
    changing((store, key, { beforeCommit, ...change }) =>
      store.update(key, {
        ...change,
        beforeCommit:
          beforeCommit &&
          ((events, tx) =>
            beforeCommit(
              events.map((one) => ({ ...one, id: '0' })),
              tx,
            )),
      }),
    ),
  ],
  [
    'prunes what a consumer has not read',
    REFERENCE,
    within('events', (events) => ({
      async prune(before) {
        for (const name of ['mail', 'hooks']) await events.forget(name)
        return events.prune(before)
      },
    })),
  ],
  [
    'hides that events were removed',
    REFERENCE,
    within('events', (events) => ({
      async read(query) {
        try {
          return await events.read(query)
        } catch (error) {
          if (!isForgeError(error, 'EVENTS_PRUNED')) throw error
          return events.read({ ...query, after: undefined })
        }
      },
    })),
  ],
  [
    'reads nothing after a cursor beyond its last event',
    AHEAD,
    within('events', ({ read }) => ({
      read: async (query) => unlessAhead(() => read(query), { events: [], cursor: query.after ?? '' }),
    })),
  ],
  [
    'moves a consumer beyond its last event',
    AHEAD,
    within('events', ({ advance }) => ({ advance: async (...given) => unlessAhead(() => advance(...given), true) })),
  ],
  ['compares slugs without case', REFERENCE, slugsAs((slug) => slug.toLowerCase())],
  ['compares slugs without trailing blanks', REFERENCE, slugsAs((slug) => slug.trimEnd())],
  ['loses characters of four bytes', REFERENCE, notesAs((note) => note.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'))],
  [
    'cuts texts',
    'the longest texts are stored completely, in characters of one byte and of four',
    notesAs((note) => [...note].slice(0, 191).join('')),
  ],
  [
    'rounds ids',
    REFERENCE,
    rowsAs((rows) => rows.map((row) => ({ ...row, issueId: String(BigInt(Number(row.issueId))) }))),
  ],
  [
    'keeps whole seconds',
    REFERENCE,
    rowsAs((rows) =>
      rows.map((row) => ({ ...row, pinnedAt: new Date(Math.floor(row.pinnedAt.getTime() / 1000) * 1000) })),
    ),
  ],
  [
    'orders boards by id',
    REFERENCE,
    rowsAs((rows) => rows.toSorted((one, other) => one.issueId.localeCompare(other.issueId))),
  ],
  [
    'returns the list that it keeps',
    RETURNED,
    (sound) => {
      const kept = new Map<string, readonly PinRow[]>()
      const keeping = rowsAs((rows) => {
        const text = JSON.stringify(rows)
        kept.set(text, kept.get(text) ?? rows)
        return kept.get(text) ?? rows
      })
      return keeping(sound)
    },
  ],
  [
    'reads the key of a change when its turn comes',
    'modifying a key after the call changes nothing',
    changing(async (store, key, change) => {
      await turns(1)
      return store.update(key, change)
    }),
  ],
  [
    'counts at another time than it lists',
    'page and total agree while blocks are added and removed',
    within('blocks', (blocks) => ({
      async page(organizationId, query) {
        const page = await blocks.page(organizationId, query)
        await turns(2)
        return { ...page, total: (await blocks.page(organizationId, query)).total }
      },
    })),
  ],
  [
    'keeps the blocks by a deleted user',
    'a user with three hundred blocks, who blocks others, is retired completely',
    within('userBlocks', (userBlocks) => {
      const kept = new Set<string>()
      return {
        async update({ blockerId, userId }, change) {
          const outcome = await userBlocks.update({ blockerId, userId }, change)
          kept.add(`${blockerId}/${userId}`)
          return outcome
        },
        among: async ({ blockerId }, userIds) => ({
          byUser: new Set(userIds.filter((userId) => kept.has(`${blockerId}/${userId}`))),
          byOrganization: new Set(),
        }),
      }
    }),
  ],
  [
    'takes a block by a user for one by an organization of the same id',
    REFERENCE,
    (sound) => ({
      blocks: {
        ...sound.blocks,
        find: async (key) => {
          const block = await sound.userBlocks.find({ blockerId: key.organizationId, userId: key.userId })
          return (await sound.blocks.find(key)) ?? (block && { ...block, ...key, blockerId: undefined })
        },
      },
    }),
  ],
  [
    'answers for the user alone, where an organization may block too',
    'filtering users works for none, repeated, unknown and 70,000 users',
    within('userBlocks', (userBlocks) => ({
      among: ({ blockerId }, userIds) => userBlocks.among({ blockerId }, userIds),
    })),
  ],
  [
    'loses what follows a holder who is gone',
    'a cursor leads on to what followed, though the item before it is gone',
    within('userBadges', (userBadges) => ({
      async holders(slug, query) {
        const { from } = query
        const all = await userBadges.holders(slug, { from: { page: 1 }, limit: 1000 })
        const isThere = !('after' in from) || all?.items.some(({ userId }) => from.after.endsWith(` ${userId}`))
        return isThere ? userBadges.holders(slug, query) : all && { ...all, items: [] }
      },
    })),
  ],
  [
    'makes a change of beforeCommit, and then overwrites it',
    'a change that beforeCommit requests is made after its own, or refused',
    within('pinBoards', (pinBoards) => ({
      async update(key, { beforeCommit, ...change }) {
        const before = await pinBoards.load(key)
        await beforeCommit?.([], undefined)
        return redeciding(pinBoards, key, change, (decide) => (_state, at) => decide(before, at))
      },
    })),
  ],
  [
    'lists holders by their ids',
    REFERENCE,
    within('userBadges', (userBadges) => ({
      async holders(slug, query) {
        const page = await userBadges.holders(slug, query)
        return page && { ...page, items: page.items.toSorted((one, other) => (one.userId < other.userId ? -1 : 1)) }
      },
    })),
  ],
  [
    'accepts a value that is not a transaction',
    'a value that is not an open host’s transaction is refused',
    () => ({ checkTransaction: () => undefined }),
  ],
  ['answers after it was closed', CLOSED, () => ({ close: async () => undefined })],
  [
    'does not distinguish a close from an outage',
    CLOSED,
    within('events', () => ({
      claim: async () => {
        throw new ForgeError('STORAGE_UNAVAILABLE', 'the server is away', { outcome: 'nothing-done' })
      },
    })),
  ],
  [
    'reports the wrong state of its tables',
    'a migrated storage is current, and migrating again changes nothing',
    () => ({ schemaStatus: async () => ({ state: 'outdated', warnings: [] }) }),
  ],
]

test.each(PLANTED)('a storage that %s is caught by "%s"', async (_fault, caughtBy, plant) => {
  const open = async () => {
    const sound = memoryStorage()
    return { ...sound, ...plant(sound) }
  }
  const cases = storageContract(open).filter(({ name }) => name.startsWith(caughtBy))
  const outcomes = await Promise.allSettled(cases.map(async ({ run }) => run()))

  expect(outcomes.map(({ status }) => status)).toContain('rejected')
})

type Known = ForgeStorage<Database.Database>

/** A storage that knows the tables of the host and breaks a rule about them, and the first words of a case that catches it. */
const PLANTED_WITH_TABLES: readonly [fault: string, caughtBy: string, plant: (sound: Known) => Partial<Known>][] = [
  [
    'counts blocks as they are added and removed',
    'a page counts what is left when the host has deleted users',
    ({ blocks }) => {
      const totals = new Map<string, number>()
      const counted = async (id: string) => (await blocks.page(id, { from: { page: 1 }, limit: 1 })).total ?? 0
      return {
        blocks: {
          ...blocks,
          async update(key, change) {
            const { organizationId } = key
            const before = await counted(organizationId)
            const outcome = await blocks.update(key, change)
            const added = (await counted(organizationId)) - before
            totals.set(organizationId, (totals.get(organizationId) ?? 0) + added)
            return outcome
          },
          page: async (id, query) => ({ ...(await blocks.page(id, query)), total: totals.get(id) ?? 0 }),
        },
      }
    },
  ],
  [
    'keeps the position of a pin until it is changed',
    'the pin of an issue that the host deletes is gone, and leaves no gap',
    ({ pinBoards }) => {
      const positions = new Map<string, number>()
      return {
        pinBoards: {
          ...pinBoards,
          async update(key, change) {
            const outcome = await pinBoards.update(key, change)
            for (const [at, { issueId }] of (await pinBoards.load(key)).entries()) positions.set(issueId, at + 1)
            return outcome
          },
          positions: (issues) => issues.map(({ issueId }) => positions.get(issueId)),
        },
      }
    },
  ],
  [
    'counts the pins of hidden issues',
    'a hidden issue is on no board, does not count, and comes back to its position',
    ({ pinBoards }) => {
      let last: readonly PinRow[] = []
      return {
        pinBoards: {
          ...pinBoards,
          async update(key, { prepare, decide, ...change }) {
            if (decide === undefined) return pinBoards.update(key, { ...change, prepare })
            const outcome = await pinBoards.update(key, {
              ...change,
              decide(rows, at) {
                const shown = new Set(rows.map(({ issueId }) => issueId))
                const hidden = last.filter(({ issueId }) => !shown.has(issueId))
                const decision = decide([...rows, ...hidden], at)
                return { ...decision, state: decision.state.filter((row) => !hidden.includes(row)) }
              },
            })
            const rows = await pinBoards.load(key)
            last = [...last.filter((one) => rows.every(({ issueId }) => issueId !== one.issueId)), ...rows]
            return outcome
          },
        },
      }
    },
  ],
  [
    'looks for a member before it locks',
    'users who become members while being blocked are never both',
    ({ blocks, host }) => ({
      blocks: {
        ...blocks,
        async update(key, { prepare, decide, ...change }) {
          if (decide === undefined) return blocks.update(key, { ...change, prepare })
          const isMember = await host?.isMember?.(key, {})
          await turns(2)
          return blocks.update(key, { ...change, decide: (state, at) => decide({ ...state, isMember }, at) })
        },
      },
    }),
  ],
  [
    'writes an actor who has no row',
    'an actor who has no row is stored as none',
    ({ pinBoards }) => ({
      pinBoards: {
        ...pinBoards,
        load: async (key) =>
          (await pinBoards.load(key)).map((row) => ({ ...row, pinnedBy: row.pinnedBy ?? '777777777' })),
      },
    }),
  ],
  [
    'keeps the events of issues that were deleted',
    'events of issues that the host has deleted are no history to keep',
    ({ events }) => ({ events: { ...events, prune: async () => 0 } }),
  ],
]

const known = storageKind(SQLITE)
afterAll(() => known.end())

test.each(PLANTED_WITH_TABLES)('a storage with tables that %s is caught by "%s"', async (_fault, caughtBy, plant) => {
  const { tables } = known.host
  if (tables === undefined) throw new Error('this kind of storage knows tables')
  const sounds = new WeakMap<Known, Known>()
  const soundOf = (storage: Known) => sounds.get(storage) ?? storage
  const open = async () => {
    const sound = await tables.open()
    const planted = { ...sound, ...plant(sound) }
    sounds.set(planted, sound)
    return planted
  }
  const cases = storageContract(open, {
    tables: {
      open,
      create: (storage, ...row) => tables.create(soundOf(storage), ...row),
      remove: (storage, ...row) => tables.remove(soundOf(storage), ...row),
      addMember: (storage, ...row) => tables.addMember(soundOf(storage), ...row),
      hide: (storage, ...row) => tables.hide?.(soundOf(storage), ...row),
    },
  }).filter(({ name }) => name.startsWith(caughtBy))
  const outcomes = await Promise.allSettled(cases.map(async ({ run }) => run()))

  expect(outcomes.map(({ status }) => status)).toContain('rejected')
})

type Update = <Key, State, Result>(
  store: AggregateStore<Key, State, undefined>,
  key: Key,
  change: Change<State, Result, undefined>,
) => MaybePromise<Outcome<Result>>

/** A fault in one store. */
function within<Store extends 'pinBoards' | 'blocks' | 'userBlocks' | 'userBadges' | 'badgeCatalogue' | 'events'>(
  name: Store,
  alter: (sound: Memory[Store]) => Partial<Memory[Store]>,
): Plant {
  return (sound) => ({ [name]: { ...sound[name], ...alter(sound[name]) } })
}

/** A fault in the changes of the boards, the badges of users and the imports. */
function changing(update: Update): Plant {
  return ({ pinBoards, userBadges, issueImports }) => ({
    pinBoards: { ...pinBoards, update: (key, change) => update(pinBoards, key, change) },
    userBadges: { ...userBadges, update: (key, change) => update(userBadges, key, change) },
    issueImports: { ...issueImports, update: (key, change) => update(issueImports, key, change) },
  })
}

/** Makes a change that is decided in another way, whether or not something is prepared for it. */
function redeciding<Key, State, Result>(
  store: AggregateStore<Key, State, undefined>,
  key: Key,
  change: Change<State, Result, undefined>,
  alter: (decide: ChangeDecision<State, Result>) => ChangeDecision<State, Result>,
): MaybePromise<Outcome<Result>> {
  if (change.prepare === undefined) return store.update(key, { ...change, decide: alter(change.decide) })

  const { prepare, ...rest } = change
  return store.update(key, { ...rest, prepare: async (state, transaction) => alter(await prepare(state, transaction)) })
}

/** Makes a call of the outbox that does not refuse a cursor. */
async function unlessAhead<T>(call: () => MaybePromise<T>, otherwise: T): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (isForgeError(error, 'CURSOR_AHEAD')) return otherwise
    throw error
  }
}

function rowsAs(alter: (rows: readonly PinRow[]) => readonly PinRow[]): Plant {
  return within('pinBoards', ({ load }) => ({ load: async (key) => alter(await load(key)) }))
}

function notesAs(alter: (note: string) => string): Plant {
  const kept = (state: OrganizationBlock | undefined) => state && { ...state, note: alter(state.note) }
  return within('blocks', ({ find }) => ({ find: async (key) => kept(await find(key)) }))
}

function slugsAs(as: (slug: string) => string): Plant {
  return within('badgeCatalogue', ({ update, find }) => ({
    update: ({ slug }, change) => update({ slug: as(slug) }, change),
    find: (slug) => find(as(slug)),
  }))
}
