// The writers run the built package in dist.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Actor, Forge, ForgeEvent } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { newDatabase, SQLITE } from '../databases.ts'
import { startProgram } from '../start-forgelet.ts'
import { LANES, PORTS, step } from './steps.mjs'
import { allEvents } from './switches.ts'

const KILLS = process.env['LONG'] === '1' ? 50 : 6

test(`after SIGKILL, changes are there whole if they were acknowledged, and only the last may be there besides, ${KILLS} times`, {
  timeout: 300_000,
}, async () => {
  const { url: file } = await newDatabase(SQLITE)
  const reference = createForge<Actor, undefined>({ storage: memoryStorage(), ...PORTS })
  const next = LANES.map(() => 0)
  let unacknowledged = 0

  for (let kill = 0; kill < KILLS; kill += 1) {
    for (const [at, outcome] of await writtenUntilKilled(file, next, kill)) {
      const lane = LANES[at] ?? ''
      expect([lane, next[at], await step(reference, lane, next[at] ?? 0)]).toEqual([lane, next[at], outcome])
      next[at] = (next[at] ?? 0) + 1
    }

    const storage = sqliteStorage(file)
    await storage.migrate()
    const forge = createForge({ storage, ...PORTS })
    const found = await eventsOf(forge)
    const acknowledged = await eventsOf(reference)
    for (const [at, lane] of LANES.entries()) {
      if (found[at]?.length === acknowledged[at]?.length) continue
      await step(reference, lane, next[at] ?? 0)
      next[at] = (next[at] ?? 0) + 1
      unacknowledged += 1
    }
    expect(found).toEqual(await eventsOf(reference))
    expect(await stateOf(forge)).toEqual(await stateOf(reference))
    await forge.close()
    expect(integrityOf(file)).toBe('ok')
  }

  expect(Math.min(...next)).toBeGreaterThan(KILLS)
  if (KILLS > 20) expect(unacknowledged).toBeGreaterThan(0)
})

/**
 * Lets a writer work on the file and kills it: now and then while it starts, mostly while it works. How much it does in a time
 * depends on the machine, so one that works is killed after answers, not after a time alone.
 */
async function writtenUntilKilled(
  file: string,
  next: readonly number[],
  kill: number,
): Promise<readonly (readonly [lane: number, outcome: string])[]> {
  const writer = startProgram([join(import.meta.dirname, 'writer.mjs'), file, JSON.stringify(next)])
  if (kill % 4 !== 3) for (let lines = 0; lines < 40; lines += 1) await writer.line()
  await pause(Math.random() * 150)
  const { code, out, err } = await writer.stop('SIGKILL')
  expect([code, err]).toEqual([null, ''])
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '))
    .map(([at, outcome = '']) => [Number(at), outcome])
}

/** The events of each lane, without what another forge has differently: ids and times. */
async function eventsOf<Tx>(forge: Forge<Actor, Tx>): Promise<readonly (readonly object[])[]> {
  const all = await allEvents(forge)
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  const lanes = LANES.map((lane) => all.filter((event) => lane.endsWith(` ${laneIdOf(event)}`)))
  expect(lanes.flat()).toHaveLength(all.length)
  return lanes.map((lane) => lane.map(({ id: _id, at: _at, ...event }) => event))
}

/** A lane is the user who makes its changes; the host deletes issues and users. */
function laneIdOf({ actorId, repositoryId }: ForgeEvent): string {
  return actorId ?? repositoryId ?? '40'
}

/** Everything the lanes work on, without times and ids of badges. */
async function stateOf<Tx>({ pins, blocks, badges }: Forge<Actor, Tx>): Promise<object> {
  const boards = ['10', '11'].flatMap((repositoryId) =>
    (['issue', 'pullRequest'] as const).map(async (kind) =>
      (await pins.list('system', { repositoryId, kind })).map(({ issueId, position }) => [issueId, position]),
    ),
  )
  const blocked = ['20', '21', '41', '42'].map(async (organizationId) => {
    const { items, total } = await blocks.list('system', { organizationId, limit: 1000 })
    return { total, items: items.map(({ userId, note }) => [userId, note]) }
  })
  const held = ['30', '31'].map(async (userId) =>
    (await badges.heldBy('system', userId)).map(({ badge }) => badge.slug),
  )
  const { items } = await badges.catalogue.list('system', { limit: 1000 })
  return {
    boards: await Promise.all(boards),
    blocked: await Promise.all(blocked),
    held: await Promise.all(held),
    catalogue: items.map(({ slug }) => slug).sort(),
  }
}

function integrityOf(file: string): unknown {
  const database = new Database(file)
  try {
    return database.pragma('integrity_check', { simple: true })
  } finally {
    database.close()
  }
}
