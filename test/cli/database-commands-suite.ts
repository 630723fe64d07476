import { describe, expect, test } from 'vitest'
import { openStandalone } from '../../src/standalone/standalone.ts'
import type { AnyKind } from '../databases.ts'
import { newDatabase, onDatabases } from '../databases.ts'
import { runForgelet, startForgelet } from '../start-forgelet.ts'
import { WORLD as fixture } from './small-world.ts'

const WELL = 'tables of the forge:  current\ntables of the server: current\n'
const IDS = ['--ids', 'user=uuid,issue=text'] as const

/** Defines what "forgelet token", "user" and "doctor" do, on each of these databases. */
export function databaseCommands(kinds: readonly AnyKind[]): void {
  onDatabases(kinds, (_open, kind) => {
    /** A new database, and what is done with it. */
    async function newPlace() {
      const database = await newDatabase(kind)
      return {
        url: database.url,
        change: (sql: string) => database.run(sql),
        run: (...args: readonly string[]) => runForgelet([...args, '--db', database.url]),
        /** Starts a server, which then answers with the status of a request that a token makes. */
        async serve(): Promise<(token: string) => Promise<number>> {
          const { url } = await startForgelet(['--db', database.url])
          return async (token) => {
            const headers = { authorization: `token ${token}` }
            return (await fetch(`${url}/admin/users/sam/badges`, { headers })).status
          }
        },
      }
    }

    /** The same, set up by a server. */
    async function setUp(): ReturnType<typeof newPlace> {
      const place = await newPlace()
      await (await openStandalone({ db: place.url, fixture })).close()
      return place
    }

    describe('forgelet token', () => {
      test('makes a token that works at once, and is refused at once when it is revoked, in every server', async () => {
        const { run, serve } = await setUp()
        const servers = [await serve(), await serve()]
        const statuses = (token: string) => Promise.all(servers.map((status) => status(token)))
        const created = await run('token', 'create', 'ALICE', '--name', 'the build')
        const token = created.out.trim()
        expect([created.code, token]).toEqual([0, expect.stringMatching(/^[0-9a-f]{40}$/)])
        expect(await statuses(token)).toEqual([200, 200])

        const [, id = ''] = /the token ([0-9a-f]{12}) of ALICE; it cannot be shown again\n$/.exec(created.err) ?? []
        const { out } = await run('token', 'list', 'alice')
        const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ'
        expect(out).toMatch(new RegExp(`^[0-9a-f]{12}  from a fixture\\n${id}  ${time}  the build\\n$`))

        expect(await run('token', 'revoke', 'sam', id)).toMatchObject({ code: 1, out: '' })
        expect(await run('token', 'revoke', 'alice', id)).toMatchObject({ code: 0, out: '' })
        expect(await statuses(token)).toEqual([401, 401])
        expect(await statuses('alice-token')).toEqual([200, 200])
        expect(await run('token', 'create', 'acme')).toMatchObject({ code: 1, out: '' })
      })

      test('is made for a new user, whose name is given once', async () => {
        const { run, serve } = await setUp()
        const status = await serve()
        const created = await run('user', 'create', 'Rosa', '--admin')
        expect([created.code, created.err]).toEqual([
          0,
          expect.stringMatching(/^forgelet: this is the token [0-9a-f]{12} of Rosa; /),
        ])
        expect(await status(created.out.trim())).toBe(200)

        const plain = JSON.parse((await run('user', 'create', 'stan', '--json')).out)
        const text = expect.any(String)
        expect(plain).toEqual({ user: 'stan', id: text, createdAt: text, token: text })
        expect(await status(plain.token)).toBe(403)

        for (const taken of ['rosa', 'acme']) {
          const { code, out, err } = await run('user', 'create', taken)
          expect([code, out, err]).toEqual([1, '', expect.stringContaining(`the name ${taken} is taken, in any case`)])
        }
        expect(await run('user', 'create', 'a/b')).toMatchObject({ code: 2, out: '' })
      })

      test('is made once when two commands create the same user', async () => {
        const { run, serve } = await setUp()
        const both = await Promise.all([run('user', 'create', 'rosa'), run('user', 'create', 'ROSA')])
        expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
        expect(await (await serve())(both.map(({ out }) => out.trim()).join(''))).toBe(403)
      })

      test('revokes a token of a fixture', async () => {
        const { run, serve } = await setUp()
        const status = await serve()
        const { tokens } = JSON.parse((await run('token', 'list', 'alice', '--json')).out)
        expect(tokens).toEqual([{ id: expect.any(String) }])
        const { out } = await run('token', 'revoke', 'alice', tokens[0].id, '--json')
        expect(JSON.parse(out)).toEqual({ revoked: tokens[0].id })
        expect(await status('alice-token')).toBe(401)
      })

      test('needs tables, and makes none', async () => {
        const { run, change } = await newPlace()
        await change('create table other (id integer)')
        const needed = { code: 3, out: '', err: expect.stringContaining('start "forgelet serve"') }
        for (const args of ['token create alice', 'token list alice', 'token revoke alice x', 'user create alice']) {
          expect(await run(...args.split(' '))).toMatchObject(needed)
        }
        const empty = expect.stringMatching(/^tables of the forge: +empty: there are no tables: run "forgelet serve"/)
        expect(await run('doctor')).toMatchObject({ code: 1, out: empty })
      })
    })

    describe('forgelet doctor', () => {
      test('finds nothing to do in a database that is set up', async () => {
        const { run } = await setUp()
        expect(await run('doctor')).toEqual({ code: 0, out: WELL, err: '' })
        const found = JSON.parse((await run('doctor', '--json')).out)
        expect(found).toMatchObject({ forge: { state: 'current', warnings: [] }, server: 'current' })
      })

      test.each([
        ['ids of its own', IDS],
        ['ids as here', []],
      ])("finds nothing to do in the database of an application's forge with %s", async (_, options) => {
        const { run, change } = await newPlace()
        for (const command of ['apply', 'status']) {
          expect(await run('schema', command, ...options)).toEqual({ code: 0, out: 'current\n', err: '' })
        }
        const { code, out } = await run('doctor', ...options)
        expect([code, out]).toEqual([0, expect.stringMatching(/current\ntables of the server: none: .*application\n$/)])
        if (options.length === 0) return
        const other = /stores .*user.*uuid.*: give the same with --ids\n$/
        expect(await run('doctor')).toMatchObject({ code: 2, err: expect.stringMatching(other) })
        await change('update forgelet_ledger set version = 0')
        expect((await run('doctor', ...options)).out).toMatch(
          /outdated: .* for an application "forgelet schema apply"\n/,
        )
      })

      test.each([
        ['alter table host_tokens drop column name', 'tables of the server: drifted: a table, view or column'],
        ['drop view forgelet_pins', 'tables of the forge:  drifted: '],
        ['update host_ledger set version = 99, oldest_library = 99', 'tables of the server: too-new: '],
        ['update host_ledger set version = 0', 'tables of the server: outdated: .*: run "forgelet serve"'],
      ])('reports with exit code 1: %s', async (sql, line) => {
        const { run, change } = await setUp()
        await change(sql)
        const { code, out } = await run('doctor')
        expect([code, out]).toEqual([1, expect.stringMatching(new RegExp(`^${line}`, 'm'))])
      })
    })
  })
}
