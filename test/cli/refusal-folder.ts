import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { createForge } from '../../src/index.ts'
import { openStandalone } from '../../src/standalone/standalone.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { Ended } from './command.ts'
import type { Refusal } from './refused-commands.ts'

const WORLD = { users: [{ username: 'alice' }] }
const FILES = {
  'world.json': JSON.stringify(WORLD),
  'unknown-field.json': JSON.stringify({ users: [{ username: 'alice', nick: 'al' }] }),
  'dangling.json': JSON.stringify({ ...WORLD, organizations: [{ name: 'acme', owners: ['bob'] }] }),
  'many.json': JSON.stringify({ a: 1, b: 2, c: 3 }),
  'pins.json': JSON.stringify({
    ...WORLD,
    repositories: [{ owner: 'alice', name: 'x', issues: [{ index: 1, title: 'x', poster: 'alice' }], pins: [1] }],
  }),
  'broken.json': '{ "users": [\n\n oops',
  'broken.yaml': 'users:\n  - username: [alice\n',
  'twice.json': '{ "users": [{ "username": "a", "username": "b" }] }',
  'twice-escaped.json': '{ "users": [], "us\\u0065rs": [] }',
  'trailing.json': '{ "users": [] } oops',
  'unsafe.json': `{"users":[{"username":"a"}],"repositories":[{"owner":"a","name":"x","issues":[{"index":1e300,"title":"x","poster":"a"}]}]}`,
  'bad-key.json': JSON.stringify({ ...WORLD, signingKey: { file: 'nowhere.asc' } }),
  'no-key.asc': 'this is not a key',
  'no-database.sqlite':
    'this is not a database, and it is longer than the header of one would be: a hundred bytes or more.',
}

/** A folder with everything that a command can be refused for, and a port that is in use. */
export class RefusalFolder {
  readonly path: string
  readonly #occupied = createServer()

  private constructor(path: string) {
    this.path = path
  }

  static async create(): Promise<RefusalFolder> {
    const made = new RefusalFolder(await mkdtemp(join(tmpdir(), 'forgelet-refusals-')))
    await new Promise<void>((resolve) => made.#occupied.listen(0, '127.0.0.1', resolve))
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(made.path, name), text)
    await mkdir(join(made.path, 'a-folder'))
    made.#foreign('foreign-accounts.sqlite', 'create table host_accounts (id integer, note text)')
    made.#foreign('foreign-schema.sqlite', 'create table host_schema (entry text)')
    made.#foreign('foreign-pins.sqlite', 'pragma journal_mode = wal; create table Forgelet_pins (pin text)')
    made.#foreign('foreign-ledger.sqlite', 'create view forgelet_ledger as select 1 as version')
    await made.#application('application.sqlite')
    await made.#newer('half.sqlite', 'pragma foreign_keys = off; drop table host_accounts')
    await made.#newer('newer.sqlite', 'update forgelet_ledger set version = 9999, oldest_library = 9999')
    await made.#newer('newer-host.sqlite', 'update host_schema set version = 9999, oldest_library = 9999')
    return made
  }

  async end(): Promise<void> {
    this.#occupied.close()
    await rm(this.path, { recursive: true })
  }

  /** Runs a command that must be refused: one line on stderr, and one for each mistake, and no file touched. */
  async expectRefusal(
    [, args, code, line]: Refusal,
    run: (folder: string, args: readonly string[]) => Promise<Ended>,
  ): Promise<void> {
    const before = await this.#everything()
    const ended = await run(this.path, typeof args === 'function' ? args(this.#port) : args)
    expect(ended).toEqual({ code, out: '', err: expect.stringMatching(/^forgelet: [^\n]+\n( {2}[^\n]+\n)*$/) })
    expect(ended.err).toContain(line)
    expect(await this.#everything()).toEqual(before)
  }

  get #port(): number {
    return (this.#occupied.address() as AddressInfo).port
  }

  async #newer(name: string, sql: string): Promise<void> {
    const host = await openStandalone({ db: join(this.path, name) })
    await host.close()
    this.#foreign(name, sql)
  }

  /** A database of another program. */
  #foreign(name: string, sql: string): void {
    const database = new Database(join(this.path, name))
    database.exec(sql)
    database.close()
  }

  /** A database with the forge of an application, and a badge that the application's user 1 holds. */
  async #application(name: string): Promise<void> {
    const storage = sqliteStorage(join(this.path, name))
    await storage.migrate()
    const forge = createForge({
      storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
    })
    await forge.badges.catalogue.define('system', { slug: 'owl', description: '', imageUrl: '' })
    await forge.badges.grant('system', { userId: '1', slugs: ['owl'] })
    await forge.close()
  }

  /** Name and content of every file. */
  async #everything(): Promise<readonly string[]> {
    const entries = await readdir(this.path, { withFileTypes: true })
    return Promise.all(
      entries.map(async (entry) => {
        const content = entry.isFile() ? await readFile(join(this.path, entry.name)) : ''
        return `${entry.name} ${createHash('sha256').update(content).digest('hex')}`
      }),
    )
  }
}
