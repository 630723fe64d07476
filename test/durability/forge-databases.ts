import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Actor, ForgeEvent, Services } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/contract/storage.ts'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { MariadbDatabases } from '../storage/databases/mariadb.ts'
import { PostgresDatabase } from '../storage/databases/postgres.ts'

const ALLOWED = { allow: true } as const

/** How the processes of a forge open their database. */
export interface Place {
  readonly kind: 'sqlite' | 'postgres' | 'mysql'
  /** A file or an address. */
  readonly at: string
}

/** A database for the processes of one forge. */
export interface ForgeDatabase extends Place {
  drop(): Promise<void>
}

/** Makes an empty database in a file. */
export async function emptySqlite(): Promise<ForgeDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-load-'))
  const drop = async () => rmSync(folder, { recursive: true })
  return { kind: 'sqlite', at: join(folder, 'forge.sqlite'), drop }
}

/** Makes an empty database on a PostgreSQL server. */
export async function emptyPostgres(server: string): Promise<ForgeDatabase> {
  const database = new PostgresDatabase(server)
  await database.pool
  return { kind: 'postgres', at: database.url, drop: () => database.end() }
}

/** Makes an empty database on a MariaDB server. */
export async function emptyMariadb(server: string): Promise<ForgeDatabase> {
  const databases = new MariadbDatabases(server)
  const { url } = await databases.take()
  return { kind: 'mysql', at: url, drop: () => databases.end() }
}

/** Migrates an empty database. */
export async function migrated(making: Promise<ForgeDatabase>): Promise<ForgeDatabase> {
  const database = await making
  await onStorage(database, (storage) => storage.migrate())
  return database
}

/** Reads a forge from outside its processes. */
export function lookedAt<T>(place: Place, look: (services: Services<Actor>) => Promise<T>): Promise<T> {
  return onStorage(place, (storage) => {
    const ports = { policy: { authorize: () => ALLOWED }, membership: { isMember: () => false } }
    return look(createForge({ storage, ...ports }))
  })
}

/** Every event of the outbox. */
export async function allEvents({ events }: Pick<Services<Actor>, 'events'>): Promise<readonly ForgeEvent[]> {
  const all: ForgeEvent[] = []
  let after: string | undefined
  for (;;) {
    const read = await events.read({ after, limit: 1000 })
    if (read.events.length === 0) return all
    all.push(...read.events)
    after = read.cursor
  }
}

/** Uses a storage over the database, and closes it. */
export function onStorage<T>({ kind, at }: Place, use: <Tx>(storage: ForgeStorage<Tx>) => Promise<T>): Promise<T> {
  switch (kind) {
    case 'sqlite':
      return closing(sqliteStorage(at), use)
    case 'postgres':
      return closing(postgresStorage(at), use)
    case 'mysql':
      return closing(mysqlStorage(at), use)
  }
}

async function closing<T, Tx>(storage: ForgeStorage<Tx>, use: (storage: ForgeStorage<Tx>) => Promise<T>): Promise<T> {
  try {
    return await use(storage)
  } finally {
    await storage.close()
  }
}
