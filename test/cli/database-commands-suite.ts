import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import type { AnyKind } from '../databases.ts'
import { newDatabase, onDatabases, SQLITE } from '../databases.ts'
import { bareIssue } from '../schema/documents/sample-issue.ts'
import type { Ended } from '../start-forgelet.ts'
import { definedCommands, newFolder, runForgelet, startForgelet } from '../start-forgelet.ts'
import { WORLD as fixture } from './small-world.ts'

const WELL = 'tables of the forge:  current\ntables of the server: current\n'
const IDS = ['--ids', 'user=uuid,issue=text'] as const

/** Which tables and views a database has. */
const TABLES: { readonly [kind: string]: string } = {
  SQLite: "select name from sqlite_master where type in ('table', 'view')",
  PostgreSQL: "select table_name as name from information_schema.tables where table_schema = 'public'",
  MariaDB: 'select table_name as name from information_schema.tables where table_schema = database()',
}

/** What a command makes in a database without our tables. */
type Makes = 'nothing' | 'the forge' | 'everything'

/** Every command that has `--db`, and what it does with a database without our tables: its exit code, and what it makes. */
const ON_EMPTY: readonly (readonly [command: string, code: number, makes: Makes, more: string])[] = [
  ['serve', 0, 'everything', ''],
  ['schema apply', 0, 'the forge', ''],
  ['schema status', 1, 'nothing', ''],
  ['schema plan', 0, 'nothing', ''],
  ['doctor', 1, 'nothing', ''],
  ['issues import', 3, 'nothing', 'issues.json --repo acme/rocket'],
  ['issues import', 3, 'nothing', 'issues.json --repo acme/rocket --dry-run'],
  ['issues export', 3, 'nothing', '--repo acme/rocket'],
  ['issues reattribute', 3, 'nothing', '--repo acme/rocket --users users.json'],
  ['user create', 3, 'nothing', 'alice'],
  ['org create', 3, 'nothing', 'acme --owner alice'],
  ['repo create', 3, 'nothing', 'alice/rocket'],
  ['token create', 3, 'nothing', 'alice'],
  ['token list', 3, 'nothing', 'alice'],
  ['token revoke', 3, 'nothing', 'alice 0123456789ab'],
]

/** Of what is the same on every database, servers do some: each command there is a connection, and the rest is SQL. */
const ON_SERVERS: readonly string[] = ['serve', 'schema apply', 'doctor', 'issues import', 'token create']

/** Starts a server, which the test stops at its end. */
async function served(serve: () => Promise<unknown>): Promise<Pick<Ended, 'code' | 'err'>> {
  await serve()
  return { code: 0, err: '' }
}

/** Defines what "forgelet token", "user" and "doctor" do, on each of these databases. */
export function databaseCommands(kinds: readonly AnyKind[]): void {
  onDatabases(kinds, (_open, kind) => {
    const isRunHere = ([command]: readonly [command: string, ...more: unknown[]]): boolean =>
      kind.name === SQLITE.name || ON_SERVERS.some((some) => command.startsWith(some))

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

      test('revokes a token of a fixture', async () => {
        const { run, serve } = await setUp()
        const status = await serve()
        const { tokens } = JSON.parse((await run('token', 'list', 'alice', '--json')).out)
        expect(tokens).toEqual([{ id: expect.any(String) }])
        const { out } = await run('token', 'revoke', 'alice', tokens[0].id, '--json')
        expect(JSON.parse(out)).toEqual({ revoked: tokens[0].id })
        expect(await status('alice-token')).toBe(401)
      })
    })

    describe('forgelet org and repo', () => {
      test('create what a running server knows at once, in any case once', async () => {
        const { run, url: db } = await setUp()
        const { url } = await startForgelet(['--db', db])
        const reads = async (path: string, token = 'none') => {
          const headers = token === 'none' ? {} : { authorization: `token ${token}` }
          return (await fetch(`${url}${path}`, { headers })).status
        }
        expect(await reads('/repos/moon/base/issues/pinned')).toBe(404)
        const again = (...args: readonly string[]) => run(...args).then(({ code, out, err }) => [code, out, err])
        const json = '{"repository":"moon/Base"}\n'
        expect(await again('org', 'create', 'Moon', '--owner', 'SAM')).toEqual([0, 'Moon\n', ''])
        expect(await again('repo', 'create', 'moon/Base', '--private', '--json')).toEqual([0, json, ''])
        expect(await again('repo', 'create', 'alice/own')).toEqual([0, 'alice/own\n', ''])
        const sam = (await run('token', 'create', 'sam')).out.trim()
        expect(await reads('/orgs/moon/blocks', sam)).toBe(200)
        expect(await reads('/repos/MOON/base/issues/pinned')).toBe(404)
        expect(await reads('/repos/MOON/base/issues/pinned', sam)).toBe(200)
        expect(await reads('/repos/alice/own/issues/pinned')).toBe(200)

        for (const [args, code, err] of [
          ['org create MOON --owner sam', 1, /the name MOON is taken, in any case\n$/],
          ['org create alice --owner sam', 1, /the name alice is taken/],
          ['org create mars --owner zoe', 1, /no user has the name zoe: create it first/],
          ['org create mars --owner moon', 1, /no user has the name moon/],
          ['org create a?b --owner sam', 2, /a\?b cannot be used: must be a name without/],
          ['org create mars', 2, /required option '--owner <user>' not specified/],
          ['repo create Moon/BASE', 1, /the repository Moon\/BASE exists, in any case/],
          ['repo create zoe/base', 1, /no user or organization has the name zoe/],
          ['repo create moon/a%b', 2, /moon\/a%b cannot be used: must be a name without/],
          ['repo create moon', 2, /'moon' is invalid .*Give the owner and the name, such as acme\/rocket/],
        ] as const) {
          expect(await again(...args.split(' '))).toEqual([code, '', expect.stringMatching(err)])
        }
      })

      test.each(['user create rosa', 'org create moon --owner sam', 'repo create sam/x'])(
        'and user: two commands at the same time create the same once: %s',
        async (command) => {
          const { run } = await setUp()
          const both = await Promise.all([run(...command.split(' ')), run(...command.split(' '))])
          expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
        },
      )
    })

    describe('a database without tables', () => {
      test.each(ON_EMPTY.filter(isRunHere))(
        'gets from forgelet %s, which ends with %d: %s (%s)',
        async (command, code, makes, more) => {
          const { run, change, serve } = await newPlace()
          await change('create table other (id integer)')
          const folder = await newFolder()
          await writeFile(join(folder, 'issues.json'), '[]')
          await writeFile(join(folder, 'users.json'), '{}')
          const words = [...command.split(' '), ...more.split(' ').filter((word) => word !== '')]
          const paths = words.map((word) => (word.endsWith('.json') ? join(folder, word) : word))
          const ended = await (command === 'serve' ? served(serve) : run(...paths))

          const names = (await change(TABLES[kind.name] ?? '')).map(({ name }) => String(name))
          const own = names.filter((name) => /^(forgelet|host)_/.test(name)).map((name) => name.replace(/_.*/, ''))
          const made = { nothing: [], 'the forge': ['forgelet'], everything: ['forgelet', 'host'] }[makes]
          expect([ended.code, [...new Set(own)].sort()]).toEqual([code, made])
          if (code === 3) expect(ended.err).toMatch(/^forgelet: .*tables are missing.*start "forgelet serve".*\n$/)
        },
      )

      test('is named in a line of the table above for every command', () => {
        const withDatabase = definedCommands()
          .commands.flatMap((one) => (one.commands.length === 0 ? [one] : one.commands))
          .filter(({ options }) => options.some(({ long }) => long === '--db'))
          .map((one) => `${one.parent?.parent ? `${one.parent.name()} ` : ''}${one.name()}`)
        expect(new Set(ON_EMPTY.map(([command]) => command))).toEqual(new Set(withDatabase))
      })
    })

    describe('an error of the driver that has no meaning of its own', () => {
      const refusing: { readonly [kind: string]: (table: string, event: string) => string } = {
        SQLite: (table, event) =>
          `create trigger refuse before ${event} on ${table} begin select raise(abort, 'no, says the trigger'); end`,
        PostgreSQL: (table, event) =>
          `create function refuse() returns trigger language plpgsql as $$ begin raise 'no, says the trigger' using errcode = 'ZZ001'; end $$;
          create trigger refuse before ${event} on ${table} for each row execute function refuse()`,
        MariaDB: (table, event) =>
          `create trigger refuse before ${event} on ${table} for each row signal sqlstate '45000' set message_text = 'no, says the trigger'`,
      }

      const refused: readonly (readonly [command: string, table: string, event: string])[] = [
        ['user create rosa', 'host_accounts', 'insert'],
        ['token create alice', 'host_tokens', 'insert'],
        ['serve', 'host_ledger', 'update'],
        ['issues import issues.json --repo acme/rocket', 'host_issues', 'insert'],
        ['issues reattribute --repo acme/rocket --users users.json', 'host_issues', 'update'],
      ]
      test.each(refused.filter(isRunHere))('ends %s in one line, with exit code 3', async (command, table, event) => {
        const { url, run, change } = await newPlace()
        if (command === 'serve') await (await openStandalone({ db: url })).close()
        else await (await openStandalone({ db: url, fixture })).close()
        const folder = await newFolder()
        const issues = join(folder, 'issues.json')
        await writeFile(issues, JSON.stringify([{ ...bareIssue, number: 77, poster_name: 'ada' }]))
        await writeFile(join(folder, 'users.json'), '{"ada":"sam"}')
        await writeFile(join(folder, 'world.json'), JSON.stringify(fixture))
        if (event === 'update' && command !== 'serve') await run('issues', 'import', issues, '--repo', 'acme/rocket')
        await change(refusing[kind.name]?.(table, event) ?? '')
        const words = command === 'serve' ? ['serve', '--port', '0', '--fixture', 'world.json'] : command.split(' ')
        const ended = await run(...words.map((word) => (word.endsWith('.json') ? join(folder, word) : word)))

        expect([ended.code, ended.out]).toEqual([3, ''])
        expect(ended.err).toMatch(
          /^forgelet: database \S+ cannot be used: it reports "no, says the trigger" \(\w+\).*\n$/,
        )
      })

      test('ends an export in one line, which does not blame the target', async () => {
        const { run, change } = await setUp()
        const columns = 'id, repository_id, number, kind, state, poster_id, milestone_id, comment_count, branch'
        const failing = kind.name === 'SQLite' ? "json('no')" : '(select name from host_accounts)'
        await change('alter table host_issues rename to other')
        await change(`create view host_issues as select ${columns}, ${failing} as record from other`)
        const { code, err } = await run(
          'issues',
          'export',
          '--repo',
          'acme/rocket',
          '-o',
          join(await newFolder(), 'out'),
        )
        expect([code, err]).toEqual([
          3,
          expect.stringMatching(/^forgelet: database \S+ cannot be used: it reports ".*\n$/),
        ])
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
        ['delete from host_ledger', 'tables of the server: outdated: .*: run "forgelet serve"'],
      ])('reports with exit code 1: %s', async (sql, line) => {
        const { run, change } = await setUp()
        await change(sql)
        const { code, out } = await run('doctor')
        expect([code, out]).toEqual([1, expect.stringMatching(new RegExp(`^${line}`, 'm'))])
      })
    })
  })
}
