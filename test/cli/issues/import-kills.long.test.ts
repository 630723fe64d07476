import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { IssueRecord } from '../../../src/exchange/exchange.ts'
import { canonicalIssue } from '../../../src/exchange/exchange.ts'
import { openStandalone } from '../../../src/standalone/standalone.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import { onServer } from '../../storage/databases/servers.ts'
import { newDatabase, SERVER_KINDS } from '../../storage/sql/server/server-databases.ts'

// Real child processes of dist/cli.js, which import a document and are killed with SIGKILL: at random times, and as soon as some
// of it is there.

const cli = resolve(import.meta.dirname, '../../../dist/cli.js')
const KILLS = 50
/** Children that have started before it is their turn. */
const READY = 2
const ISSUES = 600
/** The time from the document to its last issue, at the beginning; then it follows what is seen. */
const FIRST_SPAN_MS = 400

const issues: readonly IssueRecord[] = Array.from({ length: ISSUES }, (_, at) => ({ ...fullIssue, number: at + 1 }))
const document = JSON.stringify(issues)
const expected = issues.map((issue) => JSON.stringify(canonicalIssue(issue)))

type Child = ChildProcessByStdio<Writable, null, null>

/** Imports from standard input, which it waits for. A killed process leaves its temporary file behind. */
function start(db: string, name: string, temporary: string): Child {
  const args = ['issues', 'import', '-', '--repo', `acme/${name}`, '--db', db]
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.on('error', () => undefined) // the process was killed while it read
  return child
}

async function ended(child: Child): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

async function killRepeatedly(db: string): Promise<void> {
  const names = Array.from({ length: KILLS }, (_, at) => `rocket-${at}`)
  const repositories = names.map((name) => ({ owner: 'acme', name }))
  const host = await openStandalone({ db, fixture: { users: [{ username: 'acme' }], repositories } })
  onTestFinished(() => host.close())
  const temporary = await mkdtemp(join(tmpdir(), 'forgelet-import-spools-'))
  const children: Child[] = []
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map(ended))
    await rm(temporary, { recursive: true })
  })
  const idOf = async (name: string): Promise<string> => (await host.findRepository('acme', name))?.id ?? ''
  const exported = async (name: string): Promise<readonly string[]> => {
    const found: string[] = []
    for await (const issue of host.forge.exchange.export('system', await idOf(name))) found.push(JSON.stringify(issue))
    return found
  }
  /** Waits until an import has written issues beyond those, or has ended. */
  const hasWritten = async (child: Child, name: string, beyond: number): Promise<void> => {
    while (child.exitCode === null) {
      let count = 0
      for await (const _ of host.forge.exchange.export('system', await idOf(name))) {
        count += 1
        if (count > beyond) return
      }
      await pause(2)
    }
  }
  let span = FIRST_SPAN_MS
  let partial = 0
  let kills = 0
  for (const name of names) {
    if (kills === KILLS) break
    const ready: Child[] = []
    const next = (): Child => {
      while (ready.length < READY) {
        const child = start(db, name, temporary)
        children.push(child)
        ready.push(child)
      }
      return ready.shift() ?? start(db, name, temporary)
    }
    let before = 0
    while (before < ISSUES && kills < KILLS) {
      const child = next()
      child.stdin.end(document)
      const isTimed = kills % 2 === 0
      if (isTimed) await pause(Math.random() * span)
      else await hasWritten(child, name, before)
      child.kill('SIGKILL')
      await ended(child)
      kills += 1
      const found = await exported(name)
      expect(found).toEqual(expected.slice(0, found.length)) // whole issues, with their labels
      expect(found.length).toBeGreaterThanOrEqual(before)
      if (found.length > 0 && found.length < ISSUES) partial += 1
      if (isTimed) span = found.length === before ? span * 1.3 : Math.max(50, span * 0.8)
      before = found.length
    }
    const last = ready.shift() ?? next() // it has started already
    for (const child of ready) child.kill('SIGKILL')
    last.stdin.end(document)
    expect(await ended(last)).toBe(0)
    expect(await exported(name)).toEqual(expected)
  }
  expect(kills).toBe(KILLS)
  expect(partial).toBeGreaterThan(0) // some kills met an import that was under way
}

test('an import into SQLite that is killed fifty times ends with exactly the document', {
  timeout: 300_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-import-kills-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await killRepeatedly(join(folder, 'forge.sqlite'))
})

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (url) => {
    test('an import that is killed fifty times ends with exactly the document', { timeout: 300_000 }, async () => {
      await killRepeatedly((await newDatabase(kind, url)).url)
    })
  })
}
