import { describe, expect, test } from 'vitest'
import { BOARD, outcomeOf, pin } from '../../../src/testing/testing.ts'
import { newFile, newStorage, openHandle, openStorage } from './database-files.ts'

const UNKNOWN = { code: 'STORAGE_UNAVAILABLE', details: { outcome: 'nothing-done' } }

describe('a database that already has our names, but not our ledger', () => {
  test.each([
    ['forgelet_heads', 'create table forgelet_heads (id integer)'],
    ['forgelet_ledger', 'create table forgelet_ledger (entry text)'],
    ['forgelet_ledger', 'create view forgelet_ledger as select 1 as version'],
    ['forgelet_pins', 'create view forgelet_pins as select 1 as pin'],
    ['forgelet_events_type', 'create table notes (text text); create index forgelet_events_type on notes (text)'],
  ])('is not migrated, and the name is reported: %s', async (name, sql) => {
    const handle = openHandle(newFile())
    handle.exec(sql)
    const before = handle.prepare('select * from sqlite_master').all()
    const storage = newStorage(handle)

    await expect(storage.migrate()).rejects.toMatchObject({ ...UNKNOWN, message: expect.stringContaining(name) })
    expect(await storage.schemaStatus()).toMatchObject({ state: 'drifted' })
    expect(handle.prepare('select * from sqlite_master').all()).toEqual(before)
    expect(await outcomeOf(() => pin(storage, BOARD, '1'))).toMatchObject({ thrown: { code: 'SCHEMA_OUTDATED' } })
  })

  test('is reported also if our tables have lost their ledger row', async () => {
    const file = newFile()
    await (await openStorage(file)).close()
    openHandle(file).exec('delete from forgelet_ledger')

    await expect(newStorage(file).migrate()).rejects.toMatchObject({
      ...UNKNOWN,
      message: expect.stringMatching(/ledger.*prefix/),
    })
  })
})

test.each([
  ['x_', 'x_board_'],
  ['x_board_', 'x_'],
  ['x_', 'x_organization_'],
  ['x_organization_', 'x_'],
])('of the prefixes %s and %s, which would meet in one name, the second is refused', async (one, other) => {
  const file = newFile()
  const first = await openStorage(file, { prefix: one })
  await pin(first, BOARD, '1')
  const second = newStorage(file, { prefix: other })

  await expect(second.migrate()).rejects.toMatchObject({ ...UNKNOWN, message: expect.stringContaining('prefix') })
  expect(await first.schemaStatus()).toMatchObject({ state: 'current' })
  expect(await pin(first, BOARD, '2')).toBe(2)
})
