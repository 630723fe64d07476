import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Fixture } from '../../src/standalone/standalone.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { runForgelet, startForgelet } from '../start-forgelet.ts'

// "forgelet token" and "forgelet doctor" on SQLite. serve.servers.test.ts has them on servers.

const fixture: Fixture = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }, { username: 'sam' }],
  organizations: [{ name: 'acme', owners: ['alice'] }],
}

let db: string

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-token-'))
  db = join(folder, 'forge.sqlite')
  await (await openStandalone({ db, fixture })).close()
  return () => rm(folder, { recursive: true })
})

const run = (...args: readonly string[]) => runForgelet([...args, '--db', db])

async function serve(): Promise<(token: string) => Promise<number>> {
  const { url } = await startForgelet(['--db', db])
  return async (token) => {
    const headers = { authorization: `token ${token}` }
    return (await fetch(`${url}/admin/users/sam/badges`, { headers })).status
  }
}

function change(sql: string): void {
  const database = new Database(db)
  database.exec(sql)
  database.close()
}

describe('forgelet token', () => {
  test('makes a token that works at once, and is refused at once when it is revoked, in every server', async () => {
    const servers = [await serve(), await serve()]
    const statuses = (token: string) => Promise.all(servers.map((status) => status(token)))
    const created = await run('token', 'create', 'ALICE', '--name', 'the build')
    const token = created.out.trim()
    expect([created.code, token]).toEqual([0, expect.stringMatching(/^[0-9a-f]{40}$/)])
    expect(await statuses(token)).toEqual([200, 200])

    const [, id = ''] = /the token ([0-9a-f]{12}) of ALICE; it cannot be shown again\n$/.exec(created.err) ?? []
    const list = await run('token', 'list', 'alice')
    expect(list.out).toMatch(
      new RegExp(`^[0-9a-f]{12}  from a fixture\\n${id}  \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ  the build\\n$`),
    )
    expect(list.out).not.toContain(token)

    expect(await run('token', 'revoke', 'alice', id)).toMatchObject({ code: 0, out: '' })
    expect(await statuses(token)).toEqual([401, 401])
    expect(await statuses('alice-token')).toEqual([200, 200])
  })

  test('is made for a new user, whose name is given once', async () => {
    const status = await serve()
    const created = await run('user', 'create', 'Rosa', '--admin')
    expect([created.code, created.err]).toEqual([
      0,
      expect.stringMatching(/^forgelet: this is the token [0-9a-f]{12} of the new user Rosa; /),
    ])
    expect(await status(created.out.trim())).toBe(200)

    const plain = JSON.parse((await run('user', 'create', 'stan', '--json')).out)
    expect(plain).toEqual({
      user: 'stan',
      id: expect.any(String),
      name: null,
      createdAt: expect.any(String),
      token: expect.any(String),
    })
    expect(await status(plain.token)).toBe(403)

    for (const taken of ['rosa', 'acme']) {
      expect(await run('user', 'create', taken)).toMatchObject({
        code: 1,
        out: '',
        err: `forgelet: the name ${taken} is taken, in any case; "forgelet token create" makes a token for a user who exists\n`,
      })
    }
    expect(await run('user', 'create', 'a/b')).toMatchObject({ code: 2, out: '' })
  })

  test('that fails for a new user fails the command: the user exists, and gets a token by the other command', async () => {
    change("create trigger refuse before insert on host_tokens begin select raise(abort, 'no'); end")
    await expect(run('user', 'create', 'rosa')).rejects.toThrow('no')
    change('drop trigger refuse')
    expect(await run('user', 'create', 'rosa')).toMatchObject({ code: 1 })
    expect(await run('token', 'create', 'rosa')).toMatchObject({ code: 0 })
  })

  test('is made once when two commands create the same user', async () => {
    const both = await Promise.all([run('user', 'create', 'rosa'), run('user', 'create', 'ROSA')])
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
  })

  test('revokes a token of a fixture', async () => {
    const status = await serve()
    const { tokens } = JSON.parse((await run('token', 'list', 'alice', '--json')).out)
    expect(tokens).toEqual([{ id: expect.any(String), name: null, createdAt: null }])
    const { out } = await run('token', 'revoke', 'alice', tokens[0].id, '--json')
    expect(JSON.parse(out)).toEqual({ revoked: tokens[0].id })
    expect(await status('alice-token')).toBe(401)
  })

  test('needs tables, and makes none', async () => {
    db = join(db, '../empty.sqlite')
    change('create table other (id integer)')
    for (const args of ['create alice', 'list alice', 'revoke alice x']) {
      expect(await run('token', ...args.split(' '))).toMatchObject({ code: 3, out: '' })
    }
    expect(await run('doctor')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^tables of the forge: +empty: there are no tables/m),
    })
  })
})

describe('forgelet doctor', () => {
  test('finds nothing to do in a database that is set up', async () => {
    const { code, out } = await run('doctor')
    expect([code, out]).toEqual([0, 'tables of the forge:  current\ntables of the server: current\n'])
    const found = { forge: { state: 'current', warnings: [] }, server: 'current' }
    expect(JSON.parse((await run('doctor', '--json')).out)).toEqual({ db, ...found })
  })

  test.each([
    ['ids of its own', { user: 'uuid', issue: 'text' }, ['--ids', 'user=uuid,issue=text']],
    ['ids as here', {}, []],
  ] as const)("finds nothing to do in the database of an application's forge with %s", async (_, ids, options) => {
    db = join(db, '../application.sqlite')
    const storage = sqliteStorage(db, { ids })
    await storage.migrate()
    await storage.close()
    const { code, out } = await run('doctor', ...options)
    expect([code, out]).toEqual([0, expect.stringMatching(/current\ntables of the server: none: .*application\n$/)])
    if (options.length === 0) return
    expect(await run('doctor')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/: give --ids user=uuid,issue=text\n$/),
    })
    change('update forgelet_ledger set version = 0')
    expect((await run('doctor', ...options)).out).toContain('outdated: run "forgelet schema apply"\n')
  })

  test.each([
    ['alter table host_tokens drop column name', 'tables of the server: drifted: '],
    ['drop view forgelet_pins', 'tables of the forge:  drifted: '],
    ['update host_schema set version = 99, oldest_library = 99', 'tables of the server: too-new: '],
    ['update host_schema set version = 0', 'tables of the server: outdated: start "forgelet serve" of this release'],
  ])('reports with exit code 1: %s', async (sql, line) => {
    change(sql)
    const { code, out } = await run('doctor')
    expect([code, out]).toEqual([1, expect.stringMatching(new RegExp(`^${line}`, 'm'))])
  })
})
