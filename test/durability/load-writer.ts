import { expect } from 'vitest'
import { answerTo } from './answer-to.ts'

/** The most pins on the board that the load is on. */
export const MAX_PINS = 3

const ISSUES = 7
const USERS = 40
const BOARD = '/repos/o20/r10/issues'
const BLOCKS = '/orgs/o20/blocks'

/** What a load counted: answers, by `method status code`. */
export type Tally = Map<string, number>

/** What the rules may answer under load. Anything else is a failure. */
export const EXPECTED: ReadonlySet<string> = new Set([
  'pin 204',
  'pin 400 PIN_LIMIT_REACHED',
  'unpin 204',
  'move 204',
  'move 404 ISSUE_NOT_PINNED',
  'block 204',
  'block 422 ALREADY_BLOCKED',
  'unblock 204',
  'unblock 422 NOT_BLOCKED',
  'read 200',
])

/** Writes and reads through one server, one request after the other, as long as the load lasts. */
export async function write(url: string, tally: Tally, lasts: () => boolean): Promise<void> {
  while (lasts()) {
    const { name, request } = chosen()
    const { status, code } = await request(url)
    const outcome = code === undefined ? `${name} ${status}` : `${name} ${status} ${code}`
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
  }
}

interface Choice {
  readonly name: string
  readonly request: (url: string) => Promise<{ readonly status: number; readonly code?: string | undefined }>
}

function chosen(): Choice {
  const dice = Math.random()
  const pin = `${BOARD}/${oneTo(ISSUES)}/pin`
  const block = `${BLOCKS}/u${100 + oneTo(USERS)}`
  if (dice < 0.2) return { name: 'pin', request: (url) => answerTo(url, 'POST', pin) }
  if (dice < 0.35) return { name: 'unpin', request: (url) => answerTo(url, 'DELETE', pin) }
  if (dice < 0.55) return { name: 'move', request: (url) => answerTo(url, 'PATCH', `${pin}/${oneTo(4)}`) }
  if (dice < 0.7) return { name: 'block', request: (url) => answerTo(url, 'PUT', block) }
  if (dice < 0.85) return { name: 'unblock', request: (url) => answerTo(url, 'DELETE', block) }
  return { name: 'read', request: dice < 0.93 ? readBoard : readBlocks }
}

/** Reads the board: positions 1 to n, each issue once, and never too many. */
async function readBoard(url: string): Promise<{ readonly status: number }> {
  const { status, body } = await answerTo(url, 'GET', `${BOARD}/pinned`)
  if (status !== 200) return { status }

  const pins = list(body)
  expect(pins.length).toBeLessThanOrEqual(MAX_PINS)
  expect(pins.map((issue) => issue['pin_order'])).toEqual(pins.map((_, index) => index + 1))
  expect(new Set(pins.map((issue) => issue['id'])).size).toBe(pins.length)
  return { status }
}

/** Reads the block list, all on one page: the total counts what is on it, and no user is twice. */
async function readBlocks(url: string): Promise<{ readonly status: number }> {
  const { status, body, total } = await answerTo(url, 'GET', `${BLOCKS}?limit=1000`)
  if (status !== 200) return { status }

  const users = list(body)
  expect(total).toBe(users.length)
  expect(new Set(users.map((user) => user['id'])).size).toBe(users.length)
  return { status }
}

function list(body: unknown): readonly Record<string, unknown>[] {
  if (!Array.isArray(body)) throw new TypeError('a list was answered with something else')
  return body
}

function oneTo(most: number): number {
  return 1 + Math.floor(Math.random() * most)
}
