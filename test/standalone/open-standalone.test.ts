import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Standalone, StandaloneOptions } from '../../app/standalone/standalone.ts'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { generateKey } from '../../src/signing-keys/signing-keys.ts'
import { newFolder } from '../start-forgelet.ts'
import { WORLD } from './world.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = await newFolder()
  file = join(folder, 'forge.sqlite')
})

async function opened(options: Partial<StandaloneOptions> = {}): Promise<Standalone> {
  const host = await openStandalone({ db: file, ...options })
  onTestFinished(() => host.close())
  return host
}

async function codeOf(refused: Promise<unknown>): Promise<unknown> {
  return refused.then(
    () => 'opened',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  )
}

const alice = { id: '1', username: 'Alice' }
const rocket = { repositoryId: '1', kind: 'issue' } as const

describe.each(['a file', ':memory:'])('a standalone host on %s', (where) => {
  const db = (): string => (where === ':memory:' ? where : file)

  test("loads a fixture whole, what is the forge's own included", async () => {
    const host = await opened({ db: db(), fixture: WORLD })
    expect(host.fixture).toBe('loaded')
    expect(await host.forge.pins.list('anonymous', rocket)).toMatchObject([
      { issueId: '3', position: 1, pinnedBy: null },
      { issueId: '1', position: 2 },
    ])
    expect((await host.forge.blocks.list(alice, { organizationId: '6' })).items).toMatchObject([
      { userId: '4', note: 'spam' },
    ])
    expect(await host.forge.badges.heldBy(alice, '3')).toMatchObject([{ badge: { slug: 'night-owl' } }])
    expect((await host.forge.badges.catalogue.list(alice)).total).toBe(2)
  })

  test('answers at once who has a token, and which repository has a name', async () => {
    const host = await opened({ db: db(), fixture: WORLD })
    expect(host.authenticate(undefined)).toBe(null)
    expect(host.authenticate('token alice-token')).toEqual(alice)
    expect(host.findRepository('acme', 'rocket')).toEqual({ id: '1' })
  })

  test('takes nothing in when one thing is refused', async () => {
    const refused = opened({ db: db(), fixture: WORLD, limits: { maxNoteLength: 2 } })
    expect(await codeOf(refused)).toBe('INVALID_INPUT')
    if (where !== ':memory:') expect((await opened({ fixture: WORLD })).fixture).toBe('loaded')
  })

  test('opens empty without a fixture, and closes twice', async () => {
    const host = await openStandalone({ db: db() })
    expect([host.fixture, host.isEmpty]).toEqual(['none', true])
    await host.close()
    await host.close()
  })
})

test('opens no file when an option is refused', async () => {
  await expect(openStandalone({ db: file, limits: { maxPins: { issue: -1 } } })).rejects.toThrow(/maxPins/)

  expect(existsSync(file)).toBe(false)
})

test("serves the fixture's signing key, on a database that ignores the fixture too", async () => {
  const { privateKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
  await writeFile(join(folder, 'key'), privateKey)
  const fixture = { ...WORLD, signingKey: { file: join(folder, 'key') } }
  await (await opened({ fixture })).close()
  const host = await opened({ fixture })
  expect([host.fixture, host.isEmpty]).toEqual(['ignored', false])
  expect(await host.forge.signingKeys.publicKey('anonymous', { format: 'ssh' })).toMatchObject({ format: 'ssh' })
})

test('finishes what a process that was killed at its first start has left', async () => {
  await (await openStandalone({ db: file })).close()
  const database = new Database(file)
  // It makes the tables of the forge after its own.
  const forges = database.prepare<[], { type: string; name: string }>(
    "select type, name from sqlite_master where name like 'forgelet%' and type in ('table', 'view')",
  )
  database.pragma('foreign_keys = off')
  for (const { type, name } of forges.all()) database.exec(`drop ${type} ${name}`)
  database.close()
  expect((await opened({ fixture: WORLD })).fixture).toBe('loaded')
})

test('starts several times at once on a new file', async () => {
  const hosts = await Promise.all([opened({ fixture: WORLD }), opened({ fixture: WORLD }), opened({ fixture: WORLD })])
  expect(hosts.map(({ fixture }) => fixture).sort()).toEqual(['ignored', 'ignored', 'loaded'])
})

test('moves in beside tables of another name', async () => {
  const database = new Database(file)
  database.exec('create table host_names (name text); create table forge (name text)')
  database.close()
  expect((await opened({ fixture: WORLD })).fixture).toBe('loaded')
})

test.each(['', ' ', '\t\n'])('is refused for a blank name: %j', async (db) => {
  await expect(openStandalone({ db })).rejects.toThrow(
    new TypeError('db must be a postgres:// or mysql:// URL, an SQLite file, or ":memory:"'),
  )
})
