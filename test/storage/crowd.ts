import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { ForgeEvent } from '../../src/index.ts'
import { isForgeError } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { outbox } from '../../src/testing/storage-contract/samples/outbox.ts'
import { pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { forgeOn } from './forge-on.ts'
import type { StorageKind } from './storage-kind.ts'

const CHANGES = process.env['LONG'] === '1' ? 300 : 30
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for
const WRITERS = 20
const CONSUMERS = 3
/** How many changes go to one board: a change of a long board costs more, and shows no more. */
const CHANGES_OF_A_BOARD = 30

/** Defines the test of many consumers beside many writers, on one kind of storage. Events are named by their issues. */
export function consumedBy<Tx>({ open, host, end }: StorageKind<Tx>): void {
  afterAll(end)

  test('three that consume one name beside twenty writers get every committed event once, in order', {
    timeout: MAX_TEST_MS,
  }, async () => {
    const { again, begin } = host
    if (again === undefined || begin === undefined) throw new TypeError('a crowd needs storages and transactions')

    const first = await open()
    const others = await Promise.all(Array.from({ length: CONSUMERS }, () => again(first)))
    const storages = [first, ...others]
    const consumption = consume(others)
    const turns = first.transactions === 'synchronous' ? oneAtATime() : atOnce
    const written = Promise.all(
      Array.from({ length: WRITERS }, (_, n) => {
        const storage = storages[n % storages.length] ?? first
        return write({ storage, n: n + 1, begin: () => begin(storage), turns })
      }),
    )
    // Without an end, the consumers of a writer that has failed would go on beside the next tests.
    const committed = await written.catch((error: unknown) => consumption.stop().then(() => Promise.reject(error)))
    const { consumed, consumers } = await consumption.end(committed.flat().length)
    const left = (await outbox(first)).map(nameOf)
    await Promise.all(storages.map((storage) => storage.close()))

    expect(left.toSorted()).toEqual(committed.flat().toSorted())
    expect(consumed).toEqual(left)
    expect(consumers.size).toBeGreaterThan(1)
  })
}

/** When the host's transactions are run. */
type Turns = <T>(work: () => Promise<T>) => Promise<T>

const atOnce: Turns = (work) => work()

/** On a database with one write lock, a host that waits for it would keep its holder from going on. */
function oneAtATime(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

interface Writer<Tx> {
  readonly storage: ForgeStorage<Tx>
  readonly n: number
  readonly begin: () => ReturnType<NonNullable<StorageKind<Tx>['host']['begin']>>
  readonly turns: Turns
}

/** Pins issues on boards of its own, with pauses, and now and then three in a transaction of the host. Returns those that stay. */
async function write<Tx>({ storage, n, begin, turns }: Writer<Tx>): Promise<readonly string[]> {
  const boardOf = (change: number) =>
    ({ repositoryId: `${n}${100 + Math.floor(change / CHANGES_OF_A_BOARD)}`, kind: 'issue' }) as const
  const mayWait = storage.transactions === 'asynchronous'
  const options = mayWait ? { beforeCommit: () => pause(random(60)) } : {}
  const committed: string[] = []
  for (let each = 0; each < CHANGES; each += 1) {
    const issueId = `${n}${1000 + each}`
    await untilFree('call', () => pin(storage, boardOf(each), issueId, options))
    committed.push(issueId)
    await pause(random(mayWait ? 60 : 8))
    if (each % 10 === n % 10)
      committed.push(...(await turns(() => untilFree('host-transaction', () => writeWithHost(each)))))
  }
  return committed

  async function writeWithHost(round: number): Promise<readonly string[]> {
    const issueIds = [1, 2, 3].map((each) => `${n}${each}${1000 + round}`)
    const { transaction, commit, rollback, release } = await begin()
    try {
      for (const issueId of issueIds) await pin(storage, boardOf(round), issueId, { transaction })
      await pause(random(mayWait ? 300 : 5)) // on a database with one write lock, no other writer gets in meanwhile
      const stays = random(2) > 0
      if (stays) await commit()
      else await rollback()
      return stays ? issueIds : []
    } catch (error) {
      await rollback()
      throw error
    } finally {
      await release?.()
    }
  }
}

/**
 * Repeats what was refused as busy, as long as its error says that it may be. On a busy machine these twenty wait for one another
 * longer than a statement may: on MariaDB, transactions of a host that are REPEATABLE READ hold the gaps between their boards.
 */
async function untilFree<T>(retry: 'call' | 'host-transaction', work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isForgeError(error, 'STORAGE_BUSY') || error.details.retry !== retry) throw error
    }
  }
}

/** Consumes one name from several storages, each for a short while at a time. */
function consume<Tx>(storages: readonly ForgeStorage<Tx>[]) {
  const consumed: string[] = []
  const consumers = new Set<number>()
  let ended = false
  const all = Promise.all(
    storages.map(async (storage, n) => {
      const { events } = forgeOn(storage)
      while (!ended) {
        const handle = async (given: readonly ForgeEvent[]): Promise<void> => {
          consumed.push(...given.map(nameOf))
          consumers.add(n)
        }
        await events.consume('search', handle, { signal: AbortSignal.timeout(20 + random(60)), pollMilliseconds: 20 })
        await pause(random(20))
      }
    }),
  )
  all.catch(() => undefined) // awaited in the end, but a writer may fail before
  const stop = async (): Promise<void> => {
    ended = true
    await all
  }

  return {
    stop,
    /** Ends when so many events were consumed, or none came for five seconds. */
    async end(expected: number) {
      for (let seen = -1; consumed.length < expected && consumed.length > seen; ) {
        seen = consumed.length
        const deadline = performance.now() + 5000
        while (consumed.length === seen && performance.now() < deadline) await pause(10)
      }
      await stop()
      return { consumed, consumers }
    },
  }
}

function nameOf(event: ForgeEvent): string {
  return event.issueId ?? `event ${event.id}`
}

function random(most: number): number {
  return Math.floor(Math.random() * (most + 1))
}
