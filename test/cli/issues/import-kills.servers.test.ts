import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openStandalone } from '../../../app/standalone/standalone.ts'
import type { IssueRecord } from '../../../src/exchange/exchange.ts'
import { canonicalIssue } from '../../../src/exchange/exchange.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES, SQLITE } from '../../databases.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import type { RunningProcess } from '../../start-forgelet.ts'
import { startCommand } from '../../start-forgelet.ts'

// Processes import a document and are killed with SIGKILL: at random times, and as soon as some of it is there.

const KILLS = process.env['LONG'] === '1' ? 50 : 8
const ISSUES = 600

const issues: readonly IssueRecord[] = Array.from({ length: ISSUES }, (_, at) => ({ ...fullIssue, number: at + 1 }))
const document = JSON.stringify(issues)
const expected = issues.map((issue) => JSON.stringify(canonicalIssue(issue)))

onDatabases([SQLITE, POSTGRES, MARIADB], (_open, kind) => {
  test(`an import that is killed ${KILLS} times ends with exactly the document`, { timeout: 300_000 }, async () => {
    const { url: db } = await newDatabase(kind)
    const names = Array.from({ length: KILLS }, (_, at) => `rocket-${at}`)
    const repositories = names.map((name) => ({ owner: 'acme', name }))
    const host = await openStandalone({ db, fixture: { users: [{ username: 'acme' }], repositories } })
    onTestFinished(() => host.close())
    /** An import from standard input, which waits for it: to start a process takes most of the time. */
    const start = (name: string): RunningProcess =>
      startCommand(['issues', 'import', '-', '--repo', `acme/${name}`, '--db', db])
    const exported = async (name: string, most = ISSUES): Promise<readonly string[]> => {
      const repository = await host.findRepository('acme', name)
      const found: string[] = []
      for await (const issue of host.forge.exchange.export('system', repository?.id ?? '')) {
        if (found.push(JSON.stringify(issue)) === most) break
      }
      return found
    }

    let span = 400 // from the document to its last issue, in milliseconds; then it follows what is seen
    let kills = 0
    let partial = 0
    for (const name of names) {
      let waiting = start(name)
      const next = (): RunningProcess => {
        const ready = waiting
        waiting = start(name)
        return ready
      }
      let before = 0
      while (before < ISSUES && kills < KILLS) {
        const child = next()
        child.stdin.end(document)
        let isOver = false
        void child.ended.then(() => {
          isOver = true
        })
        const isTimed = kills % 2 === 0
        if (isTimed) await pause(Math.random() * span)
        else while (!isOver && (await exported(name, before + 1)).length <= before) await pause(2)
        await child.stop('SIGKILL')
        kills += 1

        const found = await exported(name)
        expect(found).toEqual(expected.slice(0, found.length)) // whole issues, with their labels
        expect(found.length).toBeGreaterThanOrEqual(before)
        if (found.length > 0 && found.length < ISSUES) partial += 1
        if (isTimed) span = found.length === before ? span * 1.3 : Math.max(50, span * 0.8)
        before = found.length
      }
      waiting.stdin.end(document)
      expect(await waiting.ended).toMatchObject({ code: 0 })
      expect(await exported(name)).toEqual(expected)
      if (kills === KILLS) break
    }
    expect(kills).toBe(KILLS)
    expect(partial).toBeGreaterThan(0) // some kills met an import that was under way
  })
})
