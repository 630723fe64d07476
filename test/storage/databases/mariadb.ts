import { randomBytes } from 'node:crypto'
import type { Connection } from 'mysql2/promise'
import { createConnection } from 'mysql2/promise'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { SqlStorageOptions } from '../../../src/storage/mysql.ts'
import { mysqlStorage } from '../../../src/storage/mysql.ts'
import type { HostTransaction } from '../../../src/testing/testing.ts'
import type { StorageKind } from './storage-kind.ts'
import { migrated } from './storage-kind.ts'

/** Makes a storage over a database's URL. */
export type MakeMysqlStorage = (url: string, options?: SqlStorageOptions) => ForgeStorage<Connection>

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/**
 * Storages over databases of a MariaDB server; hosts open connections of their own on them. To make tables takes long
 * there, so a database whose storages are closed is emptied, and given out again.
 *
 * @param server - the URL of the server; its user may make databases
 */
export function mariadbKind(server: string, make: MakeMysqlStorage = mysqlStorage): StorageKind<Connection> {
  const databases = new MariadbDatabases(server)
  const places = new WeakMap<ForgeStorage<Connection>, Place>()

  const over = async (place: Place, options?: SqlStorageOptions) => {
    const storage = await migrated(make(place.url, options))
    const counted = databases.counted(place, storage)
    places.set(counted, place)
    return counted
  }
  const fresh = async (options?: SqlStorageOptions) => over(await databases.take(JSON.stringify(options)), options)
  const placeOf = (storage: ForgeStorage<Connection>) => known(places.get(storage))
  const beginOn = async (storage: ForgeStorage<Connection>, begin: string) => {
    return hostTransaction(await createConnection(placeOf(storage).url), begin)
  }

  return {
    name: 'MariaDB',
    open: () => fresh(),
    host: {
      again: (storage) => over(placeOf(storage)),
      beside: (storage) => over(placeOf(storage), { prefix: 'beside_' }),
      begin: (storage) => beginOn(storage, 'start transaction'),
      beginSnapshot: (storage) => beginOn(storage, beginAt('repeatable read')),
      beginReadCommitted: (storage) => beginOn(storage, beginAt('read committed')),
      textIds: () => fresh(TEXT_IDS),
    },
    end: () => databases.end(),
  }
}

/** A database, and how many storages are open on it. */
export interface Place {
  readonly url: string
  readonly name: string
  /** The settings of its storages: those with the same settings can have it next. */
  readonly reported: string | undefined
  open: number
}

/** Databases of a server, for tests: each has one test at a time. Tables of a test's own are called `host_…`. */
export class MariadbDatabases {
  readonly #server: string
  readonly #run = randomBytes(4).toString('hex')
  readonly #places: Place[] = []
  readonly #free: Place[] = []
  #admin: Promise<Connection> | undefined

  constructor(server: string) {
    this.#server = server
  }

  /** An empty database: a new one, or one with empty tables. */
  async take(reported?: string): Promise<Place> {
    const found = this.#free.findIndex((place) => place.reported === reported)
    const [free] = found === -1 ? [] : this.#free.splice(found, 1)
    if (free === undefined) return this.#create(reported)

    await this.#empty(free)
    return free
  }

  /** A storage on a database, which is free again when the last that was counted is closed. */
  counted<Tx>(place: Place, storage: ForgeStorage<Tx>): ForgeStorage<Tx> {
    let closed: Promise<void> | undefined
    place.open += 1
    const close = async (): Promise<void> => {
      await storage.close()
      place.open -= 1
      if (place.open === 0) this.#free.push(place)
    }
    return {
      ...storage,
      close: () => {
        closed ??= close()
        return closed
      },
    }
  }

  async end(): Promise<void> {
    const admin = await this.#admin
    for (const { name } of this.#places) await admin?.query(`drop database ${name}`)
    await admin?.end()
  }

  async #create(reported: string | undefined): Promise<Place> {
    const name = `forgelet_test_${this.#run}_${this.#places.length}`
    const url = new URL(this.#server)
    url.pathname = `/${name}`
    const place = { url: url.href, name, reported, open: 0 }
    this.#places.push(place)
    const admin = await this.#connected()
    await admin.query(`create database ${name}`)
    return place
  }

  async #empty({ name }: Place): Promise<void> {
    const admin = await this.#connected()
    const [tables] = await admin.query(
      "select table_name as name from information_schema.tables where table_schema = ? and table_type = 'BASE TABLE'",
      [name],
    )
    await admin.query('set foreign_key_checks = 0')
    for (const table of namesIn(tables).filter((table) => !table.endsWith('ledger'))) {
      if (table.startsWith('host_')) await admin.query(`drop table ${name}.${table}`)
      else if (table.endsWith('outbox')) await admin.query(`update ${name}.${table} set last_position = 0, floor = 0`)
      else await admin.query(`delete from ${name}.${table}`)
    }
  }

  #connected(): Promise<Connection> {
    const url = new URL(this.#server)
    url.pathname = '/'
    this.#admin ??= createConnection(url.href)
    return this.#admin
  }
}

function namesIn(rows: unknown): readonly string[] {
  return Array.isArray(rows) ? rows.map((row) => String(row.name)) : []
}

async function hostTransaction(connection: Connection, begin: string): Promise<HostTransaction<Connection>> {
  await connection.query(begin)
  return {
    transaction: connection,
    commit: () => connection.commit(),
    rollback: () => connection.rollback(),
    release: () => connection.end(),
  }
}

function beginAt(level: string): string {
  return `begin not atomic set transaction isolation level ${level}; start transaction; end`
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('the storage is not of this kind')
  return value
}
