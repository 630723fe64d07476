import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { newFolder, runForgelet } from '../start-forgelet.ts'
import { WORLD as fixture } from './small-world.ts'

/** A file of `forgelet serve`, spoiled by statements, and then byte by byte. */
async function spoiled(
  spoil: (database: Database.Database) => unknown,
  alter: (bytes: Buffer) => void = () => undefined,
) {
  const file = join(await newFolder(), 'forge.sqlite')
  await (await openStandalone({ db: file, fixture })).close()
  const database = new Database(file)
  database.pragma('journal_mode = delete') // everything is in the file then
  spoil(database)
  database.close()
  const bytes = readFileSync(file)
  alter(bytes)
  writeFileSync(file, bytes)
  return file
}

/** Empties the page on which a table or an index begins. */
function withoutPage(name: string): Parameters<typeof spoiled> {
  let start = 0
  let size = 0
  return [
    (database) => {
      size = Number(database.pragma('page_size', { simple: true }))
      const page = database.prepare('select rootpage from sqlite_schema where name = ?').pluck().get(name)
      start = (Number(page) - 1) * size
    },
    (bytes) => void bytes.fill(0, start, start + size),
  ]
}

/** Has each of two indexes contain the rows of the other. */
function swapIndexes(database: Database.Database): void {
  database.exec(
    'create table host_rows (a, b); create index host_a on host_rows (a); create index host_b on host_rows (b)',
  )
  database.exec("insert into host_rows values (1, 'x')")
  database.unsafeMode(true)
  database.pragma('writable_schema = on')
  const pages = "(select sum(rootpage) from sqlite_schema where name in ('host_a', 'host_b'))"
  database.exec(`update sqlite_schema set rootpage = ${pages} - rootpage where name in ('host_a', 'host_b')`)
}

describe('forgelet doctor on a file', () => {
  test.each<readonly [string, RegExp, Parameters<typeof spoiled>]>([
    ['a table whose page is lost', /^problem: the database is damaged$/m, withoutPage('forgelet_events')],
    [
      'an index whose page is lost',
      /^problem: the database is damaged: .*page \d+/m,
      withoutPage('forgelet_events_type'),
    ],
    [
      'rows that refer to none',
      /^problem: rows of forgelet_user_grants refer to rows of forgelet_badges that are missing: 1$/m,
      [
        (database) => {
          database.pragma('foreign_keys = off')
          database.exec('insert into forgelet_user_grants values (1, 99, 99, 0, null)')
        },
      ],
    ],
    [
      'a file that may only be read',
      /^problem: the database cannot be written$/m,
      [() => undefined, (bytes) => void bytes.writeUInt8(3, 18)],
    ],
  ])('reports %s, with exit code 1, and changes nothing', async (_, problem, spoil) => {
    const file = await spoiled(...spoil)
    const before = readFileSync(file)
    const { code, out } = await runForgelet(['doctor', '--db', file])
    expect([code, out]).toEqual([1, expect.stringMatching(problem)])
    expect(out).toMatch(/^tables of the forge: +current$/m)

    const found = JSON.parse((await runForgelet(['doctor', '--db', file, '--json'])).out)
    expect(found).toMatchObject({ forge: { state: 'current' }, problems: expect.arrayContaining([expect.any(String)]) })
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('reports a file whose tables cannot be read', async () => {
    const file = await spoiled(
      () => undefined,
      (bytes) => void bytes.fill(0xff, 100, 1000),
    )

    expect(await runForgelet(['doctor', '--db', file])).toEqual({
      code: 1,
      out: expect.stringMatching(/^problem: the database is damaged\nto do: restore a backup .*\n$/),
      err: '',
    })
  })

  test('compares indexes with their tables with --full', async () => {
    const file = await spoiled(swapIndexes)
    expect((await runForgelet(['doctor', '--db', file])).code).toBe(0)

    const { code, out } = await runForgelet(['doctor', '--db', file, '--full'])
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^problem: the database is damaged: row 1 missing from index host_/m),
    ])
  })

  test('finds nothing while another process writes', async () => {
    const file = await spoiled(() => undefined)
    const other = new Database(file)
    other.exec('begin immediate')
    expect(await runForgelet(['doctor', '--db', file])).toMatchObject({ code: 0, err: '' })
    other.close()
  })
})
