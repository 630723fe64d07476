import type { ContractHost, ContractTables } from '../../app/testing/testing.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { SchemaStorageOptions } from '../../src/storage/postgres.ts'
import type { ForgeStorage, HostTables } from '../../src/storage/storage.ts'
import type { DatabaseKind, Host, Level, OpenTransaction, Place } from '../databases.ts'
import { EmptyDatabases } from '../databases.ts'

/** A kind of storage, as the contract is run on it. */
export interface StorageKind<Tx> {
  readonly name: string
  /** Gives a fresh storage, migrated and empty. */
  open(): Promise<ForgeStorage<Tx>>
  readonly host: ContractHost<Tx>
  /** Removes every database that was made. */
  end(): Promise<void>
}

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } } as const

/** The tables of the host that the storages of the contract know. */
const NAMES = { user: 'kit_users', organization: 'kit_orgs', repository: 'kit_repos', issue: 'kit_issues' } as const

/** Storages in memory: there is nothing to share, and no transaction of a host. */
export function memoryKind(): StorageKind<undefined> {
  const open = async () => memoryStorage()
  return { name: 'memory', open, host: { textIds: open }, end: async () => undefined }
}

/** The storages of a kind of database. Where the host hides no rows, foreign keys and triggers are all that is between. */
export function storageKind<Tx>(
  kind: DatabaseKind<Tx>,
  { hides = true }: { readonly hides?: boolean } = {},
): StorageKind<Tx> {
  const databases = new EmptyDatabases(kind)
  /** Where each storage is, the host that opened it, and how. */
  const opened = new WeakMap<ForgeStorage<Tx>, Opened<Tx>>()
  /** The transactions of the host, by what storages receive of them. */
  const begun = new Map<unknown, OpenTransaction<Tx>>()

  const fresh = async (options?: SchemaStorageOptions, made?: readonly string[]) => {
    const [place, storage] = await databases.taken(options, made)
    opened.set(storage, { place, host: place.host, options })
    return storage
  }
  const openedAs = (storage: ForgeStorage<Tx>) => {
    const found = opened.get(storage)
    if (found === undefined) throw new TypeError('the storage is not of this kind')
    return found
  }
  const again = async (one: ForgeStorage<Tx>) => {
    const { place, options } = openedAs(one)
    const host = await kind.open(place.url)
    const storage = await databases.storage(place, options, host)
    opened.set(storage, { place, host, options })
    return storage
  }
  const begin = (level?: Level) => async (storage: ForgeStorage<Tx>) => {
    const transaction = await openedAs(storage).host.begin(level)
    begun.set(transaction.transaction, transaction)
    return transaction
  }
  const run = (storage: ForgeStorage<Tx>, sql: string, transaction?: Tx) => {
    const { host } = openedAs(storage)
    return transaction === undefined ? untilDone(host, sql) : (begun.get(transaction) ?? host).run(sql)
  }

  return {
    name: kind.name,
    open: () => fresh(),
    host: {
      async beside(one) {
        const { place, host, options } = openedAs(one)
        const beside = { ...options, prefix: 'beside_' }
        const storage = await databases.storage(place, beside, host)
        opened.set(storage, { place, host, options: beside })
        return storage
      },
      begin: begin(),
      textIds: () => fresh(TEXT_IDS),
      tables: {
        ...kitRows(run, hides),
        open: () => fresh({ tables: kitTables(hides) }, kitStatements(KEYS.bigint)),
        textIds: () =>
          fresh(
            { ...TEXT_IDS, tables: kitTables(hides) },
            kitStatements(KEYS[kind.plan().some(isMariadb) ? 'exact' : 'text']),
          ),
      },
      ...(kind.isShared && { again }),
      ...(kind.levels.includes('snapshot') && { beginSnapshot: begin('snapshot') }),
      ...(kind.levels.includes('read committed') && { beginReadCommitted: begin('read committed') }),
    },
    end: () => databases.end(),
  }
}

/** The rows of the host, by a function that runs a statement where a storage is. */
export function kitRows<Tx>(
  run: (storage: ForgeStorage<Tx>, sql: string, transaction?: Tx) => unknown,
  hides = true,
): Omit<ContractTables<Tx>, 'open'> {
  return {
    create: async (storage, thing, ids) => {
      await run(storage, `insert into ${NAMES[thing]} (id) values ${ids.map((id) => `(${quoted(id)})`).join()}`)
    },
    remove: async (storage, thing, id, transaction) => {
      await run(storage, `delete from ${NAMES[thing]} where id = ${quoted(id)}`, transaction)
    },
    addMember: async (storage, { organizationId, userId }, transaction) => {
      await run(storage, `insert into kit_members values (${quoted(organizationId)}, ${quoted(userId)})`, transaction)
    },
    ...(hides && {
      hide: async (storage, thing, { id, isHidden }, transaction) => {
        const hidden = isHidden ? 1 : 0
        await run(storage, `update ${NAMES[thing]} set hidden = ${hidden} where id = ${quoted(id)}`, transaction)
      },
    }),
  }
}

interface Opened<Tx> {
  readonly place: Place<Tx>
  readonly host: Host<Tx>
  readonly options: SchemaStorageOptions | undefined
}

/** The types of the keys of the host. */
const KEYS = {
  bigint: 'bigint',
  text: 'text',
  exact: 'varchar(64) character set utf8mb4 collate utf8mb4_nopad_bin',
} as const

export function kitTables(hides: boolean): HostTables {
  const hidden = hides ? { where: 'hidden = 0' } : {}
  return {
    users: { table: NAMES.user, ...hidden },
    organizations: { table: NAMES.organization },
    members: { table: 'kit_members', organization: 'org_id', user: 'user_id' },
    repositories: { table: NAMES.repository, owner: { organization: 'org_id' } },
    issues: { table: NAMES.issue, repository: 'repo_id', number: 'number', ...hidden },
  }
}

/** The tables do not refer to each other: a case deletes one row, and no other. */
export function kitStatements(key = 'bigint'): readonly string[] {
  return [
    `create table kit_users (id ${key} not null primary key, name ${key}, hidden int not null default 0)`,
    `create table kit_orgs (id ${key} not null primary key, name ${key})`,
    `create table kit_members (org_id ${key} not null, user_id ${key} not null, primary key (org_id, user_id))`,
    `create table kit_repos (id ${key} not null primary key, name ${key}, org_id ${key})`,
    `create table kit_issues (id ${key} not null primary key, repo_id ${key}, number int, hidden int not null default 0)`,
  ]
}

function isMariadb(statement: string): boolean {
  return statement.includes('InnoDB')
}

function quoted(id: string): string {
  return `'${id.replaceAll("'", "''")}'`
}

/** What a host does with a statement that the database ended in favour of another, or did not begin. */
async function untilDone<Tx>(host: Host<Tx>, sql: string): Promise<unknown> {
  const connection = await host.connect()
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await connection.run(sql)
      } catch (error) {
        if (attempt === 500 || !/deadlock|locked|try restarting/i.test(String(error))) throw error
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
  } finally {
    await connection.end()
  }
}
