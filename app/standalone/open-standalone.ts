import type { Forge, ForgeLimits, Id, Logger, MaybePromise, SigningKeySource } from 'forgelet'
import { createForge } from 'forgelet'
import { issueDocuments } from 'forgelet/exchange'
import type { Api } from 'forgelet/http'
import { createApi } from 'forgelet/http'
import { fixtureKey, parseFixture } from './fixture/parse-fixture.ts'
import type { HostDatabase } from './host-store/host-database.ts'
import { HostDirectory } from './host-store/host-directory.ts'
import { check, migrate } from './host-store/host-schema.ts'
import { isEmpty, loadFixture } from './host-store/load-fixture.ts'
import type { DatabaseLocation } from './host-store/open-host-database.ts'
import { openHostDatabase } from './host-store/open-host-database.ts'
import { pageReader } from './host-store/page-reader.ts'
import type { StandaloneUser } from './host-store/roles.ts'
import { hostPolicy } from './host-store/roles.ts'
import { createTracker } from './host-store/tracker.ts'
import { hostPresenter } from './presenter.ts'

/**
 * The result of the fixture: `loaded`, `ignored` because the database already has accounts, or `none` because no
 * fixture was given.
 */
export type FixtureOutcome = 'loaded' | 'ignored' | 'none'

/** The options of `openStandalone`. */
export interface StandaloneOptions extends DatabaseLocation {
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
  /** Whether the database had no account when it was opened: no request can authenticate. */
  readonly isEmpty: boolean
  /**
   * Returns the user that an `Authorization` header identifies. The header is `token X`, `Bearer X`, or Basic with the
   * token as user name or password. Returns null without a header, or if it has another form. On SQLite it answers at
   * once, and throws at once.
   * @throws ForgeError `INVALID_CREDENTIALS` if the token is invalid
   */
  authenticate(header: string | undefined): MaybePromise<StandaloneUser | null>
  /**
   * Checks that the database answers, within two seconds, and that this release can use the tables of the host and of
   * the forge in it. For a readiness probe.
   * @throws ForgeError `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`, `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW`
   */
  checkDatabase(): Promise<void>
  /** Returns the repository that has this name, in any case. On SQLite it answers at once. */
  findRepository(owner: string, name: string): MaybePromise<{ readonly id: Id } | undefined>
  /** Closes the database. It is safe to call this method twice. */
  close(): Promise<void>
}

/**
 * Opens a standalone host on its own database, which holds the tables of the host and those of the forge. This function
 * brings the tables up to date, then loads the fixture if there is no account yet. The fixture is loaded completely or
 * not at all, and once if several processes start together.
 *
 * @throws ForgeError `INVALID_INPUT` if the fixture has mistakes; `SIGNING_KEY_UNREADABLE`; `SCHEMA_TOO_NEW`;
 * `STORAGE_BUSY`; `STORAGE_UNAVAILABLE` if the database cannot be reached or used, or holds the tables of another program
 * or the forge of an application
 * @throws TypeError if `db` is of another kind, or if a prefix, a schema or a limit is invalid
 */
export async function openStandalone(options: StandaloneOptions): Promise<Standalone> {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('openStandalone needs options: an object with db')
  const { limits, publicUrl, docsUrl, logger } = options
  const fixture = options.fixture && parseFixture(options.fixture, limits)
  const signingKey = options.signingKey ?? (await fixtureKey(fixture))
  const database = await openHostDatabase(options)
  try {
    const directory = new HostDirectory(database)
    const forge = hostForge(database, { limits, signingKey, logger })
    await migrate(database)
    const isLoaded = fixture !== undefined && (await loadFixture(database, forge, fixture))
    const api = createApi(forge, {
      directory,
      present: hostPresenter(pageReader(database), publicUrl),
      documents: issueDocuments,
      publicUrl,
      docsUrl,
    })
    return {
      forge,
      api,
      fixture: fixture === undefined ? 'none' : isLoaded ? 'loaded' : 'ignored',
      isEmpty: fixture === undefined && (await isEmpty(database)),
      authenticate: (header) => directory.authenticate(header),
      checkDatabase: () => check(database),
      findRepository: (owner, name) => directory.findRepository(owner, name),
      close: () => forge.close(),
    }
  } catch (error) {
    await database.storage.close().catch(() => undefined) // the error says more
    throw error
  }
}

/** Creates the forge of a database. */
export function hostForge(
  database: HostDatabase,
  options: Pick<StandaloneOptions, 'limits' | 'signingKey' | 'logger'>,
): Forge<StandaloneUser> {
  const directory = new HostDirectory(database)
  return createForge({
    storage: database.storage,
    policy: hostPolicy((request, actor) => directory.standing(request, actor)),
    membership: directory,
    issues: createTracker(database, directory),
    ...options,
  })
}
