import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { newFile, openHandle, openStorage } from '../database-files.ts'

test('a deferred constraint that beforeCommit breaks refuses every change of the batch', async () => {
  const file = newFile()
  const storage = await openStorage(file)
  openHandle(file).exec(
    'create table teams (id integer primary key);' +
      'create table watches (team integer references teams (id) deferrable initially deferred)',
  )
  const breakIt = (_events: unknown, transaction: unknown): void => {
    assert(transaction instanceof Database)
    transaction.exec('insert into watches values (7)')
  }
  const changes = [pin(storage, BOARD, '1'), pin(storage, BOARD, '2', { beforeCommit: breakIt })]

  for (const outcome of await Promise.allSettled(changes)) {
    expect(outcome).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' } })
  }
  expect(await issuesOn(storage, BOARD)).toEqual([])
  expect(await pin(storage, BOARD, '3')).toBe(1)
})
