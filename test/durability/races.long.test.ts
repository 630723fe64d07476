// The sides of the two-process races run the built package in dist.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { OpenField, RaceField } from './race-fields.ts'
import { memoryField, sqliteField, twoProcessField } from './race-fields.ts'

const RACES = process.env['FORGELET_TEST_LONG'] === '1' ? 400 : 60
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for
const folder = mkdtempSync(join(tmpdir(), 'forgelet-races-'))

const FIELDS: readonly (readonly [name: string, open: OpenField])[] = [
  ['in memory', memoryField],
  ['on SQLite', sqliteField],
  ['between two processes on one SQLite file', twoProcessField],
]

afterAll(() => rmSync(folder, { recursive: true }))

describe.each(FIELDS)('%s', { timeout: MAX_TEST_MS }, (_name, open) => {
  async function onField(work: (field: RaceField) => Promise<void>): Promise<void> {
    const field = await open(mkdtempSync(join(folder, 'field-')))
    try {
      await work(field)
    } finally {
      await field.close()
    }
  }

  test(`of ${RACES} users who become a member while they are blocked, each ends as one or the other`, async () => {
    await onField(async (field) => {
      const userIds = Array.from({ length: RACES }, (_, n) => String(1000 + n))
      const ends: string[] = []
      for (const userId of userIds) {
        const race = await Promise.all([field.join('20', userId), field.block('20', userId)])
        ends.push(race.join(' and '))
      }

      expect([...new Set(ends)].filter((end) => !MEMBER_ENDS.includes(end))).toEqual([])
      const found = [...field.members('20'), ...(await field.blocked('20'))]
      expect(found.sort()).toEqual(userIds)
    })
  })

  test(`of ${RACES} issues that are deleted while they are pinned, none stays on the board`, async () => {
    await onField(async (field) => {
      const ends: string[] = []
      for (let n = 0; n < RACES; n++) {
        const issueId = String(1000 + n)
        field.addIssue('10', issueId)
        const race = await Promise.all([field.delete('10', issueId), field.pin('10', issueId)])
        ends.push(race.join(' and '))
      }

      expect([...new Set(ends)].filter((end) => !ISSUE_ENDS.includes(end))).toEqual([])
      expect(await field.pinned('10')).toEqual([])
    })
  })
})

/** How adding a member and blocking it can end: one wins, the other is refused for it. */
const MEMBER_ENDS: readonly string[] = ['done and CANNOT_BLOCK_MEMBER', 'ALREADY_BLOCKED and done']

/** How deleting and pinning can end: the deletion always happens, and takes along what was pinned before. */
const ISSUE_ENDS: readonly string[] = ['done and done', 'done and ISSUE_NOT_FOUND']
