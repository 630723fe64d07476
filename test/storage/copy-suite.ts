import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { copyForge } from '../../src/storage/copy.ts'
import { TABLE_DESCRIPTIONS } from '../../src/storage/sql/schema/tables.ts'
import type { ForgeStorage, SchemaStatus } from '../../src/storage/storage.ts'
import { everything, fill } from '../../src/testing/storage-contract/samples/aggregates.ts'
import { define, grant } from '../../src/testing/storage-contract/samples/badges.ts'
import { block } from '../../src/testing/storage-contract/samples/blocks.ts'
import { LATER, note, outbox } from '../../src/testing/storage-contract/samples/outbox.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { retire } from '../../src/testing/storage-contract/samples/retirements.ts'
import type { AnyKind, DatabaseKind, TestDatabase } from '../databases.ts'
import { newDatabase, onDatabases } from '../databases.ts'

/** Ids and texts that a driver or a collation could change. */
const ORGANIZATIONS = ['9007199254740993', '-9223372036854775808', '9223372036854775807', '-1', '0']
const TEXTS = [
  'näht 🦉 𝒳',
  'a ',
  'a',
  'A',
  ' a',
  '\'; -- \\ " `',
  'line\nline\r\n\t',
  'e\u0301',
  'é',
  '\u007f',
  '%_?$1',
]
const MANY = 450

/** Fills every table: with more rows than a page, and with what differs least from other values. */
async function fillAll<Tx>(storage: ForgeStorage<Tx>): Promise<void> {
  await fill(storage)
  for (const [at, organizationId] of ORGANIZATIONS.entries()) {
    for (const [user, text] of TEXTS.entries()) await block(storage, organizationId, `${user}`, { note: text + at })
  }
  for (const [at, text] of TEXTS.slice(1, 4).entries()) {
    await define(storage, `c${text}`, { description: text })
    await grant(storage, `${at}`, [`c${text}`])
  }
  // Those of one organization wait for each other, and no call has more than five seconds.
  const blocks = async (lane: number) => {
    for (let user = lane; user < MANY; user += 3) await block(storage, `${500 + lane}`, `${user}`)
  }
  await Promise.all([0, 1, 2].map(blocks))
  await note(storage, MANY)
  await retire(storage, { thing: 'user', userId: '32' })
  const me = { name: 'mail', holder: 'me' }
  await storage.events.claim(me, 1)
  const { cursor } = await storage.events.read({ after: undefined, limit: 7 })
  await storage.events.claim(me, 60_000)
  await storage.events.advance(me, cursor)
  await storage.events.release(me)
}

/** Runs a statement before this process goes on: on a server, the copy may have ended before an answer is read. */
function writeNow<Tx>(database: TestDatabase<Tx>, sql: string): unknown {
  const [, driver] = /^(postgres|mysql):/.exec(database.url) ?? []
  if (driver === undefined) return database.run(sql) // SQLite answers at once
  const connect = {
    postgres: "import pg from 'pg'; const client = new pg.Client(url); await client.connect()",
    mysql: "import { createConnection } from 'mysql2/promise'; const client = await createConnection(url)",
  }[driver]
  const program = `const [, url, sql] = process.argv; ${connect}; await client.query(sql); await client.end()`
  return execFileSync(process.execPath, ['--input-type=module', '-e', program, database.url, sql])
}

/** The rows of every table, as texts; of the ledger only what is the same in every database. */
async function rowsIn<Tx>(database: TestDatabase<Tx>): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables: Record<string, readonly string[]> = {}
  for (const name of Object.keys(TABLE_DESCRIPTIONS)) {
    const rows = await database.run(`select * from forgelet_${name}`)
    const texts = rows.map((row) =>
      JSON.stringify(Object.values(row).map((value) => (value === null ? null : String(value)))),
    )
    tables[name] = texts.sort()
  }
  return tables
}

async function stateOf<Tx>(storage: ForgeStorage<Tx>): Promise<SchemaStatus['state']> {
  return (await storage.schemaStatus()).state
}

/** Returns a new event of a storage, and its cursor. */
async function nextEvent<Tx>(storage: ForgeStorage<Tx>, after: string | undefined) {
  await pin(storage, { ...BOARD, repositoryId: '77' }, '5')
  const { events, cursor } = await storage.events.read({ after, limit: 2 })
  return { id: events[0]?.id, type: events[0]?.type, count: events.length, cursor }
}

/** Defines what a copy is, between databases of two kinds. A kind of one connection is not copied to itself. */
export function copySuite(sources: readonly AnyKind[], targets: readonly AnyKind[]): void {
  onDatabases(sources, (_open, one) => {
    onDatabases(targets, (_openOther, other) => {
      if (one.name === other.name && one.name === 'PGlite') return
      describe(`copied from ${one.name} to ${other.name}`, () => copies(one, other))
    })
  })
}

function copies<A, B>(one: DatabaseKind<A>, other: DatabaseKind<B>): void {
  const between = async () => {
    const [from, to] = [await newDatabase(one), await newDatabase(other)]
    return { from, to, source: await from.migrated(), target: to.storage() }
  }

  test('every row is the same there, and again when it is copied back', { timeout: 60_000 }, async () => {
    const { from, source, target } = await between()
    await fillAll(source)
    const all = await everything(source)
    const progress: number[] = []
    const { rows, renumberedEvents } = await copyForge(source, target, {
      onProgress: ({ rows: done, total }) => void progress.push(done / total),
    })
    const back = await newDatabase(one)
    const backed = back.storage()
    await copyForge(target, backed)

    expect(await everything(target)).toEqual(all)
    expect(await everything(backed)).toEqual(all)
    expect(await rowsIn(back)).toEqual(await rowsIn(from))
    expect(renumberedEvents).toBe(0)
    const counts = Object.entries(await rowsIn(from)).map(([name, { length }]) => [name, length] as const)
    expect(Object.fromEntries(counts)).toEqual({ ledger: 1, outbox: 1, host_tables: 1, ...rows })
    expect(progress.at(-1)).toBe(1)
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
  })

  test('readers and consumers go on where they stood, and no id is given again', async () => {
    const { source, target } = await between()
    await note(source, 5)
    const { cursor } = await source.events.read({ after: undefined, limit: 3 })
    await source.events.claim({ name: 'mail', holder: 'me' }, 60_000)
    await source.events.advance({ name: 'mail', holder: 'me' }, cursor)
    const rest = await source.events.read({ after: cursor, limit: 9 })
    await copyForge(source, target)

    expect(await target.events.read({ after: cursor, limit: 9 })).toEqual(rest)
    expect(await target.events.claim({ name: 'mail', holder: 'other' }, 1000)).toEqual({ cursor })
    const next = await nextEvent(target, rest.cursor)
    expect(next).toMatchObject({ id: '6', count: 1 })
    expect(next).toEqual(await nextEvent(source, rest.cursor))
  })

  test('where every event was removed, new ones get the next ids and places', async () => {
    const { source, target } = await between()
    await note(source, 5)
    const { cursor } = await source.events.read({ after: undefined, limit: 9 })
    expect(await source.events.prune(LATER)).toBe(5)
    await copyForge(source, target)

    expect(await nextEvent(target, cursor)).toEqual(await nextEvent(source, cursor))
  })

  test('a target with rows is refused by their tables, and stays as it is', async () => {
    const { source, target } = await between()
    await target.migrate()
    await block(target, '1', '2')

    const found = /not empty: .*1 in forgelet_organization_blocks.*1 in forgelet_events/
    for (const empty of [false, true]) {
      const refused = { code: 'COPY_REFUSED', details: { reason: 'not-empty' }, message: expect.stringMatching(found) }
      await expect(copyForge(source, target, { empty })).rejects.toMatchObject(refused)
    }
    expect(await stateOf(target)).toBe('current')
  })

  test('a copy that is broken off leaves a target that no one can use, until it is copied again', async () => {
    const { to, source, target } = await between()
    await fill(source)
    const stop = new AbortController()
    const reason = new Error('stopped')
    await expect(copyForge(source, target, { signal: stop.signal, onProgress: () => stop.abort(reason) })).rejects.toBe(
      reason,
    )

    const incomplete = { code: 'STORAGE_UNAVAILABLE', message: expect.stringContaining('forgelet copy --empty') }
    const others = to.storage()
    expect(await stateOf(others)).toBe('incomplete')
    await expect((async () => outbox(others))()).rejects.toMatchObject(incomplete)
    await expect(others.migrate()).rejects.toMatchObject(incomplete)
    await expect(copyForge(source, others)).rejects.toMatchObject(incomplete)
    await expect(copyForge(others, source)).rejects.toMatchObject(incomplete)

    const third = to.storage()
    await copyForge(source, third, { empty: true })
    expect(await stateOf(third)).toBe('current')
    expect(await everything(third)).toEqual(await everything(source))
  })

  test.each([
    ['source', 'source-changed', "events (type, version, at, data) values ('issue.moved', 1, 1, '{}')"],
    ['target', 'target-differs', "badges (id, slug, description, image_url) values (98, 'late', '', '')"],
  ])('a %s to which others write meanwhile is refused at the end', async (written, reason, row) => {
    const { from, to, source, target } = await between()
    await fill(source)
    await to.migrated()
    let writing: unknown
    const onProgress = () => {
      const sql = `insert into forgelet_${row}`
      writing ??= written === 'source' ? writeNow(from, sql) : writeNow(to, sql)
    }
    const refused = { code: 'COPY_REFUSED', details: { reason } }
    await expect(copyForge(source, target, { onProgress })).rejects.toMatchObject(refused)
    await writing

    expect(await stateOf(to.storage())).toBe('incomplete')
  })

  test('ids stay in the columns that the host has chosen', async () => {
    const [from, to] = [await newDatabase(one), await newDatabase(other)]
    const ids = { user: 'text', organization: 'uuid' } as const
    const source = await from.migrated({ ids, prefix: 'x_' })
    const organization = '0b1c1e0a-1111-4222-8333-abcdefabcdef'
    for (const user of ['b', 'B', 'ä', 'b ', '01']) await block(source, organization, user)
    const other1 = to.storage()
    await expect(copyForge(source, other1)).rejects.toThrow('open the storage with the same ids')
    const target = to.storage({ ids })
    await copyForge(source, target)

    expect(await outbox(target)).toEqual(await outbox(source))
  })
}
