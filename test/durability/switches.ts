import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { ForgeEvent } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import { forgeOn } from '../storage/forge-on.ts'

// A load on processes of `forgelet serve` that are killed, or whose database is: issues that are pinned and unpinned, and users
// who are blocked and unblocked, in lanes. Each lane switches its own, one request after the other, so it knows what is there.

const REPOSITORY = '/repos/acme/rocket/issues'
const ORGANIZATION = '/orgs/acme/blocks'
const KEYS_OF_A_LANE = 4

/** A process that a lane sends its requests to. Another object takes its place whenever something changes. */
export interface Place {
  readonly url: string
  readonly is: 'up' | 'down' | 'changing'
}

/** A reply; without one, status 0 and the code of the error. */
interface Answer {
  readonly status: number
  readonly text: string
}

/** One thing that is switched on and off: the issue or the user with this number, which is its id too. */
interface Switch {
  readonly kind: 'pin' | 'block'
  readonly number: number
  /** Whether it is on, according to the answers; undefined after a request whose outcome is unknown. */
  isOn: boolean | undefined
  /** How often it was switched on and off: for sure, and at most. */
  readonly on: { sure: number; most: number }
  readonly off: { sure: number; most: number }
}

/** The load of a test, and what it saw. */
export class Switches {
  /** Answers that should not have come, or not then. */
  readonly wrong: string[] = []
  /** How many requests were not served, because the server was down. */
  refused = 0
  acknowledged = 0
  /** The longest time until an answer, in milliseconds. */
  longest = 0
  readonly #switches: readonly Switch[]
  #isOver = false
  #lanes: Promise<unknown> = Promise.resolve()

  constructor(lanes: number) {
    this.#switches = Array.from({ length: lanes * KEYS_OF_A_LANE }, (_, at) => ({
      kind: at % 2 === 0 ? 'pin' : 'block',
      number: at + 1,
      isOn: false,
      on: { sure: 0, most: 0 },
      off: { sure: 0, most: 0 },
    }))
  }

  /** The fixture of the servers. Ids are numbers from 1 on, in its order. */
  get fixture(): object {
    const numbers = this.#switches.map(({ number }) => number)
    return {
      users: [...numbers.map((n) => ({ username: `u${n}` })), { username: 'root', siteAdmin: true, tokens: ['root'] }],
      organizations: [{ name: 'acme', owners: ['root'] }],
      repositories: [
        {
          owner: 'acme',
          name: 'rocket',
          issues: numbers.map((index) => ({ index, title: `Issue ${index}`, poster: 'root' })),
        },
      ],
    }
  }

  /**
   * Starts the lanes. Each keeps to one place.
   *
   * @param isAway - whether an answer is that of a server that is down
   */
  start(places: readonly Place[], isAway: (answer: Answer) => boolean): void {
    const lane = async (at: number): Promise<void> => {
      const own = this.#switches.slice(at, at + KEYS_OF_A_LANE)
      while (!this.#isOver) {
        const one = own[Math.floor(Math.random() * own.length)]
        const place = (): Place => places[(at / KEYS_OF_A_LANE) % places.length] ?? { url: '', is: 'down' }
        if (one !== undefined) await this.#turn(one, place, isAway)
      }
    }
    this.#isOver = false
    const firsts = this.#switches.map((_, at) => at).filter((at) => at % KEYS_OF_A_LANE === 0)
    this.#lanes = Promise.all(firsts.map(lane))
  }

  /** Waits until so many more changes are acknowledged. */
  async more(count: number): Promise<void> {
    const enough = this.acknowledged + count
    const waited = async (): Promise<void> => {
      while (this.acknowledged < enough && !this.#isOver) await pause(2)
    }
    await Promise.race([waited(), this.#lanes])
  }

  /** Ends the lanes. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#lanes
  }

  /** Checks that no acknowledged change is missing, that no other was made, and that the events give the state. */
  async expectAllIn<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
    const forge = forgeOn(storage)
    const events: ForgeEvent[] = []
    for (let after: string | undefined, isOver = false; !isOver; ) {
      const read = await forge.events.read({ after, limit: 1000 })
      events.push(...read.events)
      after = read.cursor
      isOver = read.events.length === 0
    }
    const pins = await forge.pins.list('system', { repositoryId: '1', kind: 'issue' })
    const organizationId = String(this.#switches.length + 2)
    const { items, total } = await forge.blocks.list('system', { organizationId, limit: 1000 })
    const found = { pin: pins.map(({ issueId }) => issueId), block: items.map(({ userId }) => userId) }
    expect(total).toBe(items.length)

    for (const [kind, on, off] of [
      ['pin', 'issue.pinned', 'issue.unpinned'],
      ['block', 'user.blocked', 'user.unblocked'],
    ] as const) {
      const changes = events.filter(({ type }) => type === on || type === off)
      const inOrder: string[] = []
      for (const one of this.#switches.filter((other) => other.kind === kind)) {
        const id = String(one.number)
        const own = changes.filter(({ issueId, userId }) => (issueId ?? userId) === id)
        const name = `${kind} ${id}`
        expect([name, own.map(({ type }) => type)]).toEqual([name, own.map((_, at) => (at % 2 === 0 ? on : off))])
        for (const [type, { sure, most }] of [[on, one.on] as const, [off, one.off] as const]) {
          const times = own.filter((event) => event.type === type).length
          expect([name, times >= sure && times <= most]).toEqual([name, true])
        }
        if (one.isOn !== undefined) expect([name, found[kind].includes(id)]).toEqual([name, one.isOn])
      }
      for (const { type, issueId, userId } of changes) {
        const id = String(issueId ?? userId)
        if (type === on) inOrder.push(id)
        else inOrder.splice(inOrder.indexOf(id), 1)
      }
      expect(found[kind]).toEqual(inOrder)
    }
  }

  /** Switches it, or reads it when it is not known. */
  async #turn(one: Switch, place: () => Place, isAway: (answer: Answer) => boolean): Promise<void> {
    const before = place()
    const start = performance.now()
    const answer = one.isOn === undefined ? await look(before.url, one) : await this.#flip(before.url, one, one.isOn)
    this.longest = Math.max(this.longest, performance.now() - start)

    const was = before === place() ? before.is : 'changing'
    const isServed = answer.status === 204
    const away = isAway(answer)
    if (!((isServed && was !== 'down') || (away && was !== 'up'))) {
      this.wrong.push(`${one.kind} while the server is ${was}: ${answer.status} ${answer.text}`)
    }
    if (!away) return
    this.refused += 1
    await pause(10)
  }

  async #flip(url: string, one: Switch, wasOn: boolean): Promise<Answer> {
    const isPin = one.kind === 'pin'
    const path = isPin ? `${REPOSITORY}/${one.number}/pin` : `${ORGANIZATION}/u${one.number}`
    const answer = await answered(url, wasOn ? 'DELETE' : isPin ? 'POST' : 'PUT', path)
    const isDone = answer.status === 204
    const isRefused = answer.text.includes('"SHUTTING_DOWN"')
    const count = wasOn ? one.off : one.on
    count.sure += isDone ? 1 : 0
    count.most += isRefused ? 0 : 1
    this.acknowledged += isDone ? 1 : 0
    one.isOn = isDone ? !wasOn : isRefused ? wasOn : undefined
    return answer
  }
}

async function look(url: string, one: Switch): Promise<Answer> {
  const answer = await answered(url, 'GET', one.kind === 'pin' ? `${REPOSITORY}/pinned` : `${ORGANIZATION}?limit=50`)
  if (answer.status !== 200) return answer

  const list: readonly { readonly id: number }[] = JSON.parse(answer.text)
  one.isOn = list.some(({ id }) => id === one.number)
  return { status: 204, text: '' }
}

/** Asks a server that may be killed. */
async function answered(url: string, method: string, path: string): Promise<Answer> {
  try {
    const response = await fetch(`${url}${path}`, { method, headers: { authorization: 'token root' } })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    return { status: 0, text: cause instanceof Error && 'code' in cause ? String(cause.code) : '' }
  }
}
