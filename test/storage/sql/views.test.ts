import { expect, test } from 'vitest'
import { BOARD, block, define, grant, NOON, pin } from '../../../src/testing/testing.ts'
import { newFile, openHandle, openStorage } from './database-files.ts'

async function forgeBesideHostTables() {
  const handle = openHandle(newFile())
  handle.exec(
    "create table issues (id integer primary key, title text); insert into issues values (2, 'Read this first')",
  )
  const storage = await openStorage(handle)
  for (const issueId of ['1', '2']) await pin(storage, BOARD, issueId)
  await block(storage, '20', '30', { note: 'spam' })
  await define(storage, 'night-owl')
  await grant(storage, '30', ['night-owl'])
  return handle
}

test('plain SQL reads the pins, with their positions', async () => {
  const handle = await forgeBesideHostTables()

  expect(handle.prepare('select * from forgelet_pins order by position').all()).toEqual([
    { repository_id: 10, kind: 'issue', issue_id: 1, position: 1, pinned_at: NOON.getTime(), pinned_by: 7 },
    { repository_id: 10, kind: 'issue', issue_id: 2, position: 2, pinned_at: NOON.getTime(), pinned_by: 7 },
  ])
})

test('plain SQL reads the blocks', async () => {
  const handle = await forgeBesideHostTables()

  expect(handle.prepare('select * from forgelet_blocks').all()).toEqual([
    { organization_id: 20, user_id: 30, note: 'spam', blocked_at: NOON.getTime(), blocked_by: 7 },
  ])
})

test('plain SQL reads the badge grants', async () => {
  const handle = await forgeBesideHostTables()

  expect(handle.prepare('select * from forgelet_badge_grants').all()).toEqual([
    { user_id: 30, badge_id: 1, slug: 'night-owl', granted_at: NOON.getTime(), granted_by: 7 },
  ])
})

test('the host joins them with its own tables, by an index', async () => {
  const handle = await forgeBesideHostTables()
  const join = 'select title, position from issues left join forgelet_pins on issue_id = issues.id'

  expect(handle.prepare(join).all()).toEqual([{ title: 'Read this first', position: 2 }])
  expect(JSON.stringify(handle.prepare(`explain query plan ${join}`).all())).toMatch(/SEARCH forgelet_board_pins/)
})

test('no one writes through them', async () => {
  const handle = await forgeBesideHostTables()

  expect(() => handle.exec('delete from forgelet_pins')).toThrow(/view/)
})
