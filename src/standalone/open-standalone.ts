import type { Api } from '../http-adapters/http.ts'
import { createApi } from '../http-adapters/http.ts'
import type { Forge, ForgeLimits, Logger, SigningKeySource } from '../index.ts'
import { createForge } from '../index.ts'
import type { SqliteConnection } from '../storage/sqlite.ts'
import { sqliteStorage } from '../storage/sqlite.ts'
import { authenticate } from './authenticate.ts'
import type { Fixture } from './fixture/fixture.ts'
import { parseFixture } from './fixture/fixture.ts'
import { fixtureKey } from './fixture/fixture-key.ts'
import { seedFromFixture } from './fixture/seed-from-fixture.ts'
import { forgeSeedCalls } from './fixture/write-forge-seed.ts'
import type { StandaloneUser } from './host-ports.ts'
import { hostDirectory, hostMembership, hostPolicy } from './host-ports.ts'
import { hostVersion, migrateHost, refuseForeign } from './host-store/host-tables.ts'
import { SqlHostStore } from './host-store/sql-host-store.ts'
import { SqlSession } from './host-store/sql-session.ts'
import { asUsable, openDatabase, storageError } from './open-database.ts'
import { hostPresenter } from './presenter/presenter.ts'

/**
 * The result of the fixture: `loaded`, `ignored` because the database already has accounts, or `none` because no
 * fixture was given.
 */
export type FixtureOutcome = 'loaded' | 'ignored' | 'none'

/** The options of `openStandalone`. */
export interface StandaloneOptions {
  /** An SQLite file, which is created if it is missing, or `:memory:`. */
  readonly db: string
  /**
   * A parsed fixture (docs/fixture.md), which is loaded into an empty database. It is validated even if the database
   * already has accounts.
   */
  readonly fixture?: object | undefined
  readonly limits?: ForgeLimits | undefined
  /** Default: the `signingKey` of the fixture, if any. */
  readonly signingKey?: SigningKeySource | undefined
  /** The URL of the API root for clients, for example `https://git.example.com/api/v1`. Default: links are relative. */
  readonly publicUrl?: string | undefined
  /** The URL of the API documentation; every error body contains it as `url`. Default: `""`. */
  readonly docsUrl?: string | undefined
  /** The logger for warnings and unexpected failures. Default: `console.error`. False disables logging. */
  readonly logger?: Logger | false | undefined
}

/** A complete host with its own accounts, repositories, issues and tokens, and a forge over them. */
export interface Standalone {
  readonly forge: Forge<StandaloneUser>
  /**
   * For use with an adapter: `nodeHandler(api, { authenticate: (request) =>
   * host.authenticate(request.headers.authorization) })`.
   */
  readonly api: Api<StandaloneUser>
  readonly fixture: FixtureOutcome
  /**
   * Returns the user that an `Authorization` header identifies. The header is `token X`, `Bearer X`, or Basic with the
   * token as user name or password. Returns null without a header, or if it has another form.
   * @throws ForgeError `INVALID_CREDENTIALS` if the token is invalid
   */
  authenticate(header: string | undefined): Promise<StandaloneUser | null>
  /** Closes the database. It is safe to call this method twice. */
  close(): Promise<void>
}

/**
 * Opens a standalone host on its own database. One file holds the tables of the host and those of the forge. This
 * function brings the tables up to date, then loads the fixture if there is no account yet. The fixture is loaded
 * completely or not at all.
 *
 * @throws ForgeError `INVALID_INPUT` if the fixture has mistakes; `SIGNING_KEY_UNREADABLE`; `SCHEMA_TOO_NEW`;
 * `STORAGE_BUSY`; `STORAGE_UNAVAILABLE` if the file is not a database, holds the tables of another program or the forge
 * of an application, or cannot be used
 * @throws TypeError if `db` has another type, or if a limit is invalid
 */
export async function openStandalone(options: StandaloneOptions): Promise<Standalone> {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('openStandalone needs options: an object with db')
  const file = databaseFile(options.db)
  const fixture = options.fixture && parseFixture(options.fixture, options.limits)
  const signingKey = options.signingKey ?? (await fixtureKey(fixture))
  const connection = openDatabase(file)
  try {
    return await openHost(connection, fixture, { ...options, signingKey })
  } catch (error) {
    connection.close()
    throw storageError(error) ?? error
  }
}

async function openHost(
  connection: SqliteConnection,
  fixture: Fixture | undefined,
  options: StandaloneOptions,
): Promise<Standalone> {
  const { limits, signingKey, publicUrl, docsUrl, logger } = options
  const session = new SqlSession(connection)
  const store = new SqlHostStore(session)
  refuseForeign(session)
  hostVersion(session)
  claimDatabase(connection, session)
  const storage = sqliteStorage(connection)
  const forge = createForge({
    storage,
    policy: hostPolicy(store),
    membership: hostMembership(store),
    signingKey,
    limits,
    logger,
  })
  try {
    await storage.migrate()
    session.exec('pragma foreign_keys = on; pragma synchronous = full')
    const outcome = loadFixture(connection, { store, forge, fixture })
    session.exec('pragma busy_timeout = 50') // from here on it only reads, and must not block the event loop

    const present = hostPresenter(store, publicUrl)
    const api = createApi(forge, { directory: hostDirectory(store), present, publicUrl, docsUrl })
    return {
      forge,
      api,
      fixture: outcome,
      authenticate: async (header) => authenticate(store, header),
      close: async () => {
        await forge.close()
        connection.close()
      },
    }
  } catch (error) {
    await forge.close()
    throw error
  }
}

/** Creates the host's own tables before those of the forge. They mark the database as one that this server created. */
function claimDatabase(connection: SqliteConnection, session: SqlSession): void {
  inTransaction(connection, () => {
    refuseForeign(session) // an application may have created its tables first
    migrateHost(session)
  })
}

interface HostParts {
  readonly store: SqlHostStore
  readonly forge: Forge<StandaloneUser, SqliteConnection>
  readonly fixture: Fixture | undefined
}

/** Loads the whole fixture in one transaction. */
function loadFixture(connection: SqliteConnection, { store, forge, fixture }: HostParts): FixtureOutcome {
  return inTransaction(connection, () => {
    if (fixture === undefined) return 'none'
    if (!store.isEmpty()) return 'ignored'

    const seed = seedFromFixture(fixture, new Date())
    store.load(seed)
    forge.withTransactionSync(connection, (joined) => {
      for (const call of forgeSeedCalls(seed)) call(joined)
    })
    return 'loaded'
  })
}

function inTransaction<T>(connection: SqliteConnection, work: () => T): T {
  return asUsable(() => {
    connection.exec('begin immediate')
    try {
      const value = work()
      connection.exec('commit')
      return value
    } catch (error) {
      if (connection.inTransaction) connection.exec('rollback')
      throw error
    }
  })
}

function databaseFile(db: string): string {
  if (typeof db !== 'string' || db.trim() === '') throw new TypeError('db must name an SQLite file, or be ":memory:"')
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(db)?.[1]
  if (!db.includes('://')) return db

  const named = scheme === undefined ? 'a URL' : `${scheme}://`
  throw new TypeError(`db: ${named} is not supported by this release; name an SQLite file, or ":memory:"`)
}
