import { setTimeout as pause } from 'node:timers/promises'
import type { ServerAnswer } from './answer-to.ts'
import { answerTo } from './answer-to.ts'

const BOARD = '/repos/o20/r10/issues'
const BLOCKS = '/orgs/o20/blocks'
const KEYS_OF_A_LANE = 4

/** The number of the first issue or user that is switched. */
export const FIRST_NUMBER = 100

/** The most pins on the board, so that no lane is in another's way. */
export const MAX_PINS = 1000

/** One thing that can be switched on and off, by one lane alone: an issue's pin, or a user's block. */
export interface Switch {
  readonly kind: 'pin' | 'block'
  readonly id: string
  /** Whether it is on, according to the answers; undefined after a request whose outcome is unknown. */
  isOn: boolean | undefined
  /** How often it was switched on and off: for sure, and at most. */
  readonly counts: { readonly [way in 'on' | 'off']: { sure: number; most: number } }
}

/** What the server of a lane does while a request is made; another object whenever that changes. */
export interface Phase {
  readonly server: 'up' | 'down' | 'changing'
}

/** What the lanes of a test report. */
export interface LaneReport {
  readonly switches: readonly Switch[]
  /** What should not have been answered, or not then. */
  readonly wrong: string[]
  /** How many were refused, or not answered, because the server is down. */
  refused: number
  /** How many changes were acknowledged. */
  acknowledged: number
  /** The longest that an answer took, in milliseconds. */
  longest: number
}

/** What the lanes work on. */
export interface Lanes {
  /** Where each process is; a process that is started again may be elsewhere. Each lane keeps to one process. */
  readonly urls: readonly string[]
  readonly count: number
  /** What is going on with the process of a lane, by its place among the URLs. */
  readonly phase: (process: number) => Phase
  /** Whether an answer is that of a server that is down. */
  readonly isAway: (answer: Pick<ServerAnswer, 'status' | 'code'>) => boolean
  readonly last: () => boolean
}

/** The answer of a process whose database is down. */
export function isUnavailable({ status, code }: Pick<ServerAnswer, 'status' | 'code'>): boolean {
  return status === 503 && code === 'STORAGE_UNAVAILABLE'
}

/** The answer of a process that is down: none. */
export function isNotAnswered({ status }: Pick<ServerAnswer, 'status'>): boolean {
  return status === 0
}

/** Makes an empty report, with the switches of so many lanes. */
export function newReport(lanes: number): LaneReport {
  const switches = Array.from({ length: lanes * KEYS_OF_A_LANE }, (_, n) => newSwitch(n))
  return { switches, wrong: [], refused: 0, acknowledged: 0, longest: 0 }
}

/** Switches things on and off, each lane its own, one request after the other, until they are stopped. */
export async function runLanes(lanes: Lanes, report: LaneReport): Promise<void> {
  const lane = async (index: number): Promise<void> => {
    const own = report.switches.slice(index * KEYS_OF_A_LANE, (index + 1) * KEYS_OF_A_LANE)
    while (!lanes.last()) {
      const one = own[Math.floor(Math.random() * own.length)]
      if (one !== undefined) await turn(lanes, index % lanes.urls.length, one, report)
    }
  }
  await Promise.all(Array.from({ length: lanes.count }, (_, index) => lane(index)))
}

/** Switches it, or reads it when it is not known. */
async function turn({ urls, phase, isAway }: Lanes, process: number, one: Switch, report: LaneReport): Promise<void> {
  const before = phase(process)
  const url = urls[process] ?? ''
  const start = performance.now()
  const wasOn = one.isOn
  const answer = wasOn === undefined ? await look(url, one) : await flip(url, one, wasOn)
  report.longest = Math.max(report.longest, performance.now() - start)
  if (wasOn !== undefined && answer.status === 204) report.acknowledged += 1

  const served = before === phase(process) ? before.server : 'changing'
  const away = isAway(answer)
  if (away) report.refused += 1
  const isRight = served === 'up' ? answer.status === 204 : served === 'down' ? away : away || answer.status === 204
  if (!isRight) report.wrong.push(`${one.kind} while the server is ${served}: ${answer.status} ${answer.code}`)
  if (away) await pause(10)
}

async function look(url: string, one: Switch): Promise<Pick<ServerAnswer, 'status' | 'code'>> {
  const answer = await answered(url, 'GET', one.kind === 'pin' ? `${BOARD}/pinned` : `${BLOCKS}?limit=1000`)
  if (answer.status !== 200) return answer

  one.isOn = Array.isArray(answer.body) && answer.body.some((found) => nameOf(found) === one.id)
  return { status: 204, code: undefined }
}

/** The number of an issue, and that in the name of a user: the ids are the host's. */
function nameOf({ number, login }: { readonly number?: number; readonly login?: string }): string {
  return number === undefined ? String(login).slice(1) : String(number)
}

/** Asks a server that may be killed: status 0 says that it did not answer. */
async function answered(
  url: string,
  method: string,
  path: string,
): Promise<Pick<ServerAnswer, 'status' | 'code' | 'body'>> {
  try {
    return await answerTo(url, method, path)
  } catch {
    return { status: 0, code: undefined, body: undefined }
  }
}

async function flip(url: string, one: Switch, wasOn: boolean): Promise<Pick<ServerAnswer, 'status' | 'code'>> {
  const count = one.counts[wasOn ? 'off' : 'on']
  const answer =
    one.kind === 'pin'
      ? await answered(url, wasOn ? 'DELETE' : 'POST', `${BOARD}/${one.id}/pin`)
      : await answered(url, wasOn ? 'DELETE' : 'PUT', `${BLOCKS}/u${one.id}`)

  const isDone = answer.status === 204
  one.isOn = isDone ? !wasOn : undefined
  count.sure += isDone ? 1 : 0
  count.most += 1
  return answer
}

function newSwitch(n: number): Switch {
  const kind = n % 2 === 0 ? 'pin' : 'block'
  return {
    kind,
    id: String(FIRST_NUMBER + n),
    isOn: false,
    counts: { on: { sure: 0, most: 0 }, off: { sure: 0, most: 0 } },
  }
}
