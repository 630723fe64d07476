import { setTimeout as pause } from 'node:timers/promises'
import type { ServerAnswer } from './answer-to.ts'
import { answerTo } from './answer-to.ts'

const BOARD = '/repos/o20/r10/issues'
const BLOCKS = '/orgs/o20/blocks'
const KEYS_OF_A_LANE = 4

/** The most pins on the board, so that no lane is in another's way. */
export const MAX_PINS = 1000

/** One thing that can be switched on and off, by one lane alone: an issue's pin, or a user's block. */
export interface Switch {
  readonly kind: 'pin' | 'block'
  readonly id: string
  /** Whether it is on, as far as answers tell; undefined after a request whose outcome is unknown. */
  isOn: boolean | undefined
  /** How often it was switched on and off: for sure, and at most. */
  readonly counts: { readonly [way in 'on' | 'off']: { sure: number; most: number } }
}

/** What is going on while a request is made; another object whenever that changes. */
export interface Phase {
  readonly server: 'up' | 'down' | 'changing'
}

/** What the lanes of a test tell. */
export interface LaneReport {
  readonly switches: readonly Switch[]
  /** What should not have been answered, or not then. */
  readonly wrong: string[]
  /** How many were refused because the server is down. */
  refused: number
  /** How many changes were acknowledged. */
  acknowledged: number
  /** The longest that an answer took, in milliseconds. */
  longest: number
}

/** What the lanes work on. */
export interface Lanes {
  readonly urls: readonly string[]
  readonly count: number
  readonly phase: () => Phase
  readonly last: () => boolean
}

/** Makes an empty report, with the switches of so many lanes. */
export function newReport(lanes: number): LaneReport {
  const switches = Array.from({ length: lanes * KEYS_OF_A_LANE }, (_, n) => newSwitch(n))
  return { switches, wrong: [], refused: 0, acknowledged: 0, longest: 0 }
}

/** Switches things on and off, each lane its own, one request after the other, until they are told that it is over. */
export async function runLanes({ urls, count, phase, last }: Lanes, report: LaneReport): Promise<void> {
  const lane = async (index: number): Promise<void> => {
    const url = urls[index % urls.length] ?? ''
    const own = report.switches.slice(index * KEYS_OF_A_LANE, (index + 1) * KEYS_OF_A_LANE)
    while (!last()) {
      const one = own[Math.floor(Math.random() * own.length)]
      if (one !== undefined) await turn(url, one, phase, report)
    }
  }
  await Promise.all(Array.from({ length: count }, (_, index) => lane(index)))
}

/** Switches it, or looks at it when it is not known. */
async function turn(url: string, one: Switch, phase: () => Phase, report: LaneReport): Promise<void> {
  const before = phase()
  const start = performance.now()
  const wasOn = one.isOn
  const { status, code } = wasOn === undefined ? await look(url, one) : await flip(url, one, wasOn)
  report.longest = Math.max(report.longest, performance.now() - start)
  if (wasOn !== undefined && status === 204) report.acknowledged += 1

  const served = before === phase() ? before.server : 'changing'
  const away = status === 503 && code === 'STORAGE_UNAVAILABLE'
  if (away) report.refused += 1
  const isRight = served === 'up' ? status === 204 : served === 'down' ? away : away || status === 204
  if (!isRight) report.wrong.push(`${one.kind} while the server is ${served}: ${status} ${code}`)
  if (away) await pause(10)
}

async function look(url: string, one: Switch): Promise<Pick<ServerAnswer, 'status' | 'code'>> {
  const answer = await answerTo(url, 'GET', one.kind === 'pin' ? `${BOARD}/pinned` : `${BLOCKS}?limit=1000`)
  if (answer.status !== 200) return answer

  one.isOn = Array.isArray(answer.body) && answer.body.some(({ id }) => String(id) === one.id)
  return { status: 204, code: undefined }
}

async function flip(url: string, one: Switch, wasOn: boolean): Promise<Pick<ServerAnswer, 'status' | 'code'>> {
  const count = one.counts[wasOn ? 'off' : 'on']
  const answer =
    one.kind === 'pin'
      ? await answerTo(url, wasOn ? 'DELETE' : 'POST', `${BOARD}/${one.id}/pin`)
      : await answerTo(url, wasOn ? 'DELETE' : 'PUT', `${BLOCKS}/u${one.id}`)

  const isDone = answer.status === 204
  one.isOn = isDone ? !wasOn : undefined
  count.sure += isDone ? 1 : 0
  count.most += 1
  return answer
}

function newSwitch(n: number): Switch {
  const kind = n % 2 === 0 ? 'pin' : 'block'
  return { kind, id: String(100 + n), isOn: false, counts: { on: { sure: 0, most: 0 }, off: { sure: 0, most: 0 } } }
}
