import assert from 'node:assert/strict'
import type { CursorPage, Id, MaybePromise } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import { memoryStorage } from '../../../storage/memory.ts'
import type { EventFilter, ForgeStorage, PageQuery } from '../../../storage/storage.ts'
import { AGGREGATES } from '../samples/aggregates.ts'
import { outboxKinds } from '../samples/outbox.ts'
import { retirementKinds } from '../samples/retirements.ts'
import type { Choices, Kind, Names } from '../samples/sample.ts'
import { Draw, NOON } from '../samples/sample.ts'
import type { StorageCase } from './storage-case.ts'
import { outcomeOf, storageCase, textIdCase } from './storage-case.ts'

const STEPS = 120
const STEPS_BETWEEN_VIEWS = 10
/** The page sizes of the views: of the last one, and of the others. */
const LIMITS = { last: [1, 3, 1000], other: [2, 1000] }

/** Numbers that a driver may round, or a database take for the same. */
export const NUMBERS: Choices<Id> = [
  ...(['1', '9007199254740992', '9007199254740993', '-1', '9223372036854775807'] as const),
  ...['9223372036854775806', '10', '-9223372036854775808'],
]

/** Texts that a database may take for the same. */
export const ID_TEXTS: Choices<Id> = [
  ...(['abc', 'ABC', 'abc ', 'é', 'e\u0301', '7', '07', '7.0', '🦉', '🦆', 'x'.repeat(64)] as const),
  '00000000-0000-4000-8000-00000000000a',
  '00000000-0000-4000-8000-00000000000A',
]

/** Slugs that a database may take for the same. */
const SLUGS: Choices<string> = ['owl', 'Owl', 'owl ', 'é', 'e\u0301', '🦉', '🦆']

/**
 * Returns cases that make the same drawn changes on a storage and on `memoryStorage`, and compare every answer, and what
 * both have. A failure names the step; the case of a seed has it in its name.
 *
 * @param reports - whether deletions are drawn, which are reported to the storage
 */
export function referenceCases(seeds: readonly number[], reports: 'with reports' | 'without'): readonly StorageCase[] {
  const kinds = reports === 'without' ? drawnKinds({}) : drawnKinds(retirementKinds)
  return seeds.flatMap((seed) => [
    storageCase(`after the same changes (seed ${seed}) a storage has and answers what memoryStorage does`, (storage) =>
      compare(storage, new Draw(seed), kinds, namesFrom(NUMBERS, seed)),
    ),
    textIdCase(
      `after the same changes (seed ${seed}) with text ids a storage has and answers what memoryStorage does`,
      (storage) => compare(storage, new Draw(seed), kinds, namesFrom(ID_TEXTS, seed)),
    ),
  ])
}

/** Takes a part of the ids, so that changes meet; those next to each other look alike. */
function namesFrom(ids: Choices<Id>, seed: number): Names {
  const [first, ...others] = ids.map((_, at) => ids[(at + seed * 2) % ids.length] ?? ids[0])
  const few: Choices<Id> = [first ?? ids[0], ...others.slice(0, 1)]
  const users: Choices<Id> = [few[0], ...others.slice(0, 4)]
  const [pull = ids[0], ...pulls] = others.slice(4, 6)
  return { repositories: few, organizations: few, users, issues: users, pullRequests: [pull, ...pulls], slugs: SLUGS }
}

/** One change, in words and as a call. */
interface DrawnChange {
  readonly name: string
  run<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
}

type DrawnKinds = readonly (readonly [name: string, kind: Kind])[]

/** Returns all kinds with their names, each as often as its share. */
function drawnKinds(ofReports: Readonly<Record<string, Kind>>): DrawnKinds {
  return [...AGGREGATES.map(({ kinds }) => kinds), ofReports, outboxKinds]
    .flatMap((kinds) => Object.entries(kinds))
    .flatMap((entry) => Array.from({ length: entry[1].share }, () => entry))
}

/**
 * Draws the change of a step, with its author and its time, which is that of no other step. A part of the changes is refused by `beforeCommit`. The
 * result has what the change returned and the events that `beforeCommit` received.
 */
function drawnChange(draw: Draw, kinds: DrawnKinds, names: Names, step: number): DrawnChange {
  const drawn = kinds[draw.below(kinds.length)]
  if (drawn === undefined) throw new RangeError('there are no kinds of changes')

  const [name, kind] = drawn
  const [input, run] = kind.draw(draw, names)
  const time = NOON.getTime() + step * 1001 + draw.below(30) * 100 - 1500
  const by = { actorId: draw.one<Id | null>([null, ...names.users]), at: () => new Date(time) }
  const isRefused = draw.below(9) === 0
  return {
    name: `${name} ${JSON.stringify(input)}${isRefused ? ', refused before the commit' : ''}`,
    async run(storage) {
      const received: unknown[] = []
      const beforeCommit = (events: readonly object[]) => {
        received.push(...events.map((event) => ({ ...event, id: undefined })))
        if (isRefused) throw new Error('refused before the commit')
      }
      return { result: await run(storage, { by, beforeCommit }), received }
    },
  }
}

async function compare<Tx>(storage: ForgeStorage<Tx>, draw: Draw, kinds: DrawnKinds, names: Names): Promise<void> {
  const [found, expected] = [new Side(storage, names), new Side(memoryStorage(), names)]
  assertSame(await found.view(LIMITS.other), await expected.view(LIMITS.other), 'what there is at first')
  for (let step = 1; step <= STEPS; step += 1) {
    const { name, run } = drawnChange(draw, kinds, names, step)
    const at = `step ${step}, ${name}`
    assertSame(await found.answer(run), await expected.answer(run), `the answer to ${at}`)
    if (step % STEPS_BETWEEN_VIEWS > 0) continue

    const limits = step === STEPS ? LIMITS.last : LIMITS.other
    assertSame(await found.view(limits), await expected.view(limits), `what there is after ${at}`)
  }
}

function assertSame(found: unknown, expected: unknown, what: string): void {
  try {
    assert.deepEqual(found, expected)
  } catch (error) {
    throw new assert.AssertionError({ message: `${what}: ${String(error)}`, actual: found, expected })
  }
}

/** Reads a page of a list, which may have a total. */
type ReadPage<Item> = (
  query: PageQuery,
) => MaybePromise<(CursorPage<Item> & { readonly total?: number | undefined }) | undefined>

/** Adds the answer of a read to a view, and returns it unless the read was refused. */
type See = <T>(what: string, read: () => T) => Promise<Awaited<T> | undefined>

/** One of the two storages. What it may choose itself, ids and cursors, is replaced by what can be compared. */
class Side<Tx> {
  readonly #storage: ForgeStorage<Tx>
  readonly #names: Names
  /** The ids that the storage chose, in the order in which they were read. */
  readonly #chosen: string[] = []
  /** Where to read on in the lists, since the last view. */
  readonly #cursors = new Map<string, string>()

  constructor(storage: ForgeStorage<Tx>, names: Names) {
    this.#storage = storage
    this.#names = names
  }

  async answer(run: (storage: ForgeStorage<Tx>) => unknown): Promise<unknown> {
    return this.#comparable(await outcomeOf(() => run(this.#storage)))
  }

  /** Reads everything, in pages of these sizes. */
  async view(limits: readonly number[]): Promise<unknown> {
    const [storage, names] = [this.#storage, this.#names]
    const seen: [string, unknown][] = []
    const see = async <T>(what: string, read: () => T): Promise<Awaited<T> | undefined> => {
      const outcome = await outcomeOf(read)
      seen.push([what, this.#comparable(outcome)])
      return 'value' in outcome ? outcome.value : undefined
    }

    for (const one of AGGREGATES) {
      for (const [what, read] of [...one.reads(storage, names), ...one.states(storage, names)]) await see(what, read)
      for (const [list, read] of one.lists(storage, names)) await this.#pages(see, list, read, limits)
    }
    for (const issueId of [...names.issues, ...names.pullRequests])
      await see(`history of ${issueId}`, () => storage.events.history(issueId))
    for (const limit of limits) await this.#outbox(see, `outbox by ${limit}`, limit)
    await this.#outbox(see, 'outbox', 1000)
    for (const filter of filtersOf(names)) {
      const list = `events of ${JSON.stringify(filter)}`
      await this.#pages(see, list, (query) => storage.events.list(filter, query), limits)
    }
    return seen
  }

  /** Reads a list from page to page, from cursor to cursor, and on from a cursor of the last view. */
  async #pages<Item>(see: See, list: string, read: ReadPage<Item>, limits: readonly number[]): Promise<void> {
    const after = this.#cursors.get(list)
    const counted = await outcomeOf(() => read({ from: { page: 1 }, limit: 1 }))
    const total = 'value' in counted ? counted.value?.total : undefined
    if (after !== undefined) {
      await see(`${list} since the last view`, () => readPage(read, { from: { after }, limit: 1000 }, total))
    }
    for (const limit of limits) {
      const first = await see(`${list} by ${limit}`, () => read({ from: { page: 1 }, limit }))
      for (let page = 2, found = first?.items.length ?? 0; found > 0; page += 1) {
        const next = await see(`page ${page} of ${list} by ${limit}`, () => read({ from: { page }, limit }))
        found = next?.items.length ?? 0
      }
      for (let next = first?.cursor; next !== undefined; ) {
        const after = next
        this.#cursors.set(list, after)
        next = (await see(`${list} by ${limit} and cursor`, () => readPage(read, { from: { after }, limit }, total)))
          ?.cursor
      }
    }
  }

  /**
   * Reads the outbox to the end, from where the reader of this name stopped. If it missed events that were removed, it
   * goes on as the error says.
   */
  async #outbox(see: See, reader: string, limit: number): Promise<void> {
    for (;;) {
      const after = this.#cursors.get(reader)
      const page = await see(`${reader} on from there`, () => readOn(this.#storage, after, limit))
      if (page === undefined) return

      this.#cursors.set(reader, page.cursor)
      if (page.events.length === 0) return
    }
  }

  #comparable(value: unknown): unknown {
    if (value instanceof Error) return isForgeError(value) ? { code: value.code } : { message: value.message }
    if (value instanceof Set) return [...value].sort()
    if (Array.isArray(value)) return value.map((one) => this.#comparable(one))
    if (typeof value !== 'object' || value === null || value instanceof Date) return value

    const kind = 'slug' in value ? 'badge' : 'event'
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, part]) => {
        if (name === 'isMember') return [] // only a storage that knows the members has it
        return [this.#comparableEntry(name, part, kind)]
      }),
    )
  }

  #comparableEntry(name: string, part: unknown, kind: string): readonly [string, unknown] {
    if (name === 'nextId' || name === 'cursor') return [name, typeof part]
    if (name === 'id' && part !== undefined) return [name, this.#ordinalOf(`${kind} ${part}`)]
    const hasNoOrder = name === 'known' && Array.isArray(part)
    return [name, this.#comparable(hasNoOrder ? part.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)) : part)]
  }

  #ordinalOf(id: string): number {
    const at = this.#chosen.indexOf(id)
    return at < 0 ? this.#chosen.push(id) - 1 : at
  }
}

/** Reads a page behind a cursor, which need not have a total, but no wrong one. */
async function readPage<Item>(
  read: ReadPage<Item>,
  query: PageQuery,
  counted: number | undefined,
): Promise<CursorPage<Item> | undefined> {
  const page = await read(query)
  if (page === undefined) return undefined
  const { total, ...rest } = page
  assert.ok([undefined, counted].includes(total), 'a total counts the list')
  return rest
}

/** Reads on from a cursor, or from the oldest event if events behind the cursor were removed. */
async function readOn<Tx>({ events }: ForgeStorage<Tx>, after: string | undefined, limit: number) {
  const read = await outcomeOf(() => events.read({ after, limit }))
  if ('value' in read) return { ...read.value, isPruned: false }
  if (!isForgeError(read.thrown, 'EVENTS_PRUNED')) throw read.thrown

  return { ...(await events.read({ after: read.thrown.details.oldest, limit })), isPruned: true }
}

function filtersOf({ repositories: [repositoryId], organizations, users }: Names): readonly EventFilter[] {
  const [organizationId] = organizations
  return [
    {},
    { repositoryId },
    { organizationId, types: ['user.blocked', 'user.unblocked'] },
    { userId: users[1] },
    { organizationId, userId: users[1] },
    { repositoryId, actorId: users[0] },
    { actorId: users[0], types: ['issue.pinned', 'user.blocked'] },
  ]
}
