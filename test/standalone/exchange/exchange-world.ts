import { writeIssues } from '../../../src/exchange/exchange.ts'
import type { ExchangeService, Forge, ImportOptions, IssueRecord } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import type { StandaloneUser } from '../../../src/standalone/host-ports.ts'
import { hostMembership, hostPolicy } from '../../../src/standalone/host-ports.ts'
import type { HostDatabase } from '../../../src/standalone/host-store/host-database.ts'
import { HOST_TABLES } from '../../../src/standalone/host-store/host-tables.ts'
import { SqlIssueTracker } from '../../../src/standalone/host-store/sql-issue-tracker.ts'
import { hostPresenter } from '../../../src/standalone/presenter/presenter.ts'
import { loadedStore } from '../host-store/loaded-store.ts'

/** The world of ../world.ts in a database, with a forge over it. Its repositories 2, 3 and 4 have no issues. */
export interface ExchangeWorld {
  readonly forge: Pick<Forge<StandaloneUser>, 'events' | 'lifecycle'>
  readonly exchange: ExchangeService<StandaloneUser>
  /** Imports inside a transaction of the host, which is rolled back if the import fails. */
  importAtOnce(repositoryId: string, records: readonly IssueRecord[], options?: ImportOptions): Promise<void>
  /** The canonical document of a repository. */
  exported(repositoryId: string): Promise<string>
  /** An issue of the first repository, as the API shows it. */
  shown(number: number): Promise<object | undefined>
  /** How many rows each table of the host has, and the last event. */
  contents(): Promise<object>
}

/** Loads the world into a database. */
export async function exchangeWorld<Tx>(database: HostDatabase<Tx>): Promise<ExchangeWorld> {
  const store = await loadedStore(database)
  const forge = createForge<StandaloneUser, Tx>({
    storage: database.storage,
    policy: hostPolicy(store),
    membership: hostMembership(store),
    issues: new SqlIssueTracker(database),
    logger: false,
  })
  return {
    forge,
    exchange: forge.exchange,
    async importAtOnce(repositoryId, records, options = {}) {
      await database.importAtomically(forge, 'system', { repositoryId, records }, options)
    },
    exported: (repositoryId) => textOf(forge.exchange.export('system', repositoryId)),
    async shown(number) {
      const issue = await store.findIssue('1', number)
      const [json] = await hostPresenter(store, undefined).issues([String(issue?.id)], { actor: 'anonymous' })
      return json
    },
    async contents() {
      const counts: Record<string, unknown> = {}
      for (const table of HOST_TABLES) {
        const [row] = await database.rows<{ readonly count: unknown }>({
          sql: `select count(*) as count from host_${table}`,
          parameters: [],
          returnsRows: true,
        })
        counts[table] = Number(row?.count)
      }
      const { items: events } = await forge.events.list({}, { limit: 1 })
      return { counts, events }
    },
  }
}

/** The canonical document of issues. */
export async function textOf(issues: Iterable<IssueRecord> | AsyncIterable<IssueRecord>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of writeIssues(issues)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}
