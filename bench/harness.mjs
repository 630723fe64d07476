// Measures work against a floor in one run: sides take turns in short slices, forwards and backwards, so that whatever else the
// machine does reaches all of them. A figure is the ratio of two sides, never a time of one.
//
//   const measured = await interleave({ forgelet: callSide(work), 'by hand': callSide(floor) }, { slices })
//   const row = compare(measured, { work: 'find a block', floor: 'its statement', of: ['forgelet', 'by hand'], reach: 0.65 })
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Database from 'better-sqlite3'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

/**
 * Lets the sides take turns, and returns for each side what one operation cost in each slice: CPU and wall time in
 * microseconds.
 */
export async function interleave(sides, { slices }) {
  const all = Object.entries(sides)
  for (const [, side] of all) await side.warmUp()
  const measured = Object.fromEntries(all.map(([name]) => [name, []]))
  for (let slice = 0; slice < slices; slice += 1) {
    for (const [name, side] of slice % 2 === 0 ? all : all.toReversed()) measured[name].push(await side.slice())
  }
  for (const [, side] of all) await side.end?.()
  return measured
}

/**
 * A row of the table. `cpu` and `wall` compare the calm fifth of each side, and `ratio` is the one that counts; `low` and `high`
 * are the 10th and the 90th percentile of its ratios slice by slice.
 *
 * @param of - the two sides: ours, then its floor
 * @param reach - what the ratio should be at least
 * @param by - what counts: `cpu` of the process that works, or `wall`, the time
 */
export function compare(measured, { work, floor, of: [ours, reference], reach, by = 'cpu' }) {
  const calm = (kind) => calmFifth(measured[reference], kind) / calmFifth(measured[ours], kind)
  const ratios = measured[reference].map((cost, slice) => cost[by] / measured[ours][slice][by]).sort((a, b) => a - b)
  const [low, high] = [ratios[Math.floor(ratios.length * 0.1)], ratios[Math.ceil(ratios.length * 0.9) - 1]]
  return { work, floor, ratio: calm(by), low, high, reach, by, cpu: calm('cpu'), wall: calm('wall') }
}

/** Returns the mean of the cheapest fifth: what an operation costs while the machine does little else. */
function calmFifth(costs, by) {
  const sorted = costs.map((cost) => cost[by]).sort((a, b) => a - b)
  const calm = sorted.slice(0, Math.max(1, Math.floor(sorted.length / 5)))
  return calm.reduce((sum, cost) => sum + cost, 0) / calm.length
}

/**
 * A side in this process: `call(n)` is one operation, synchronous or not, for n = 0, 1, 2, …
 *
 * @param count - operations in a slice
 * @param atOnce - how many operations are under way at the same time
 */
export function callSide(call, { count = 500, warmUp = 10 * count, atOnce = 1 } = {}) {
  let n = 0
  const one = async (until) => {
    while (n < until) {
      const result = call(n++)
      if (typeof result?.then === 'function') await result
    }
  }
  const run = (operations) => {
    const until = n + operations
    return Promise.all(Array.from({ length: atOnce }, () => one(until)))
  }
  return { warmUp: () => run(warmUp), slice: async () => per(count, await timed(() => run(count))) }
}

/**
 * A side in this process whose every operation needs something new, which is opened before and closed after it, untimed. A slice
 * is one operation.
 */
export function openedSide(open, work) {
  const slice = async () => {
    const opened = await open()
    const cost = await timed(() => work(opened))
    await opened.close()
    return cost
  }
  return { warmUp: slice, slice }
}

/** What one of `count` operations cost. */
export function per(count, { cpu, wall }) {
  return { cpu: cpu / count, wall: wall / count }
}

/** Runs work, and returns what it cost in this process, in microseconds. */
export async function timed(work) {
  collectGarbage({ type: 'minor' }) // that of the side before
  const [before, start] = [process.cpuUsage(), performance.now()]
  await work()
  const wall = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  return { cpu: user + system, wall: wall * 1000 }
}

/** Runs work with a folder of its own, which is removed at the end. */
export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Starts a script in a process of its own, and waits for its first message. */
export async function startProcess(script, options) {
  const child = fork(script, options)
  const ended = once(child, 'disconnect') // emitted after the last message
  const [message] = await Promise.race([once(child, 'message'), ended])
  if (message === undefined) throw new Error(`${script} ${options[0]} ended before it sent a message`)
  return { child, message }
}

/** Runs work and returns every statement that better-sqlite3 ran in this process, in order: its text, parameters and method. */
export async function sqliteCalls(work) {
  const handle = new Database(':memory:')
  const statement = Object.getPrototypeOf(handle.prepare('select 1'))
  handle.close()
  const seen = []
  const restore = [
    spy(Database.prototype, 'exec', (_, [sql]) => seen.push({ sql, method: 'exec', parameters: [] })),
    ...['all', 'get', 'run', 'iterate'].map((method) =>
      spy(statement, method, ({ source }, parameters) => seen.push({ sql: source, method, parameters })),
    ),
  ]
  try {
    await work()
    return seen
  } finally {
    for (const undo of restore) undo()
  }
}

/** Calls `see` before each call of a method, and returns the function that ends this. */
export function spy(owner, name, see) {
  const original = owner[name]
  owner[name] = function (...parameters) {
    see(this, parameters)
    return original.apply(this, parameters)
  }
  return () => {
    owner[name] = original
  }
}
