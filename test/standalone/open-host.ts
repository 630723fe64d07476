import { afterAll, beforeAll } from 'vitest'
import type { Standalone, StandaloneUser } from '../../app/standalone/standalone.ts'
import { openStandalone } from '../../app/standalone/standalone.ts'
import type { ExchangeRecord } from '../../src/index.ts'
import { allOf, textOf } from '../core/exchange/records.ts'
import type { AnyKind, TestDatabase } from '../databases.ts'
import { newDatabase, onDatabases } from '../databases.ts'
import { plainRequest, readText } from '../http-adapters/dispatch.ts'
import { WORLD } from './world.ts'

// The users of the world as callers. Ids are given in the order of the fixture.
export const alice: StandaloneUser = { id: '1', username: 'Alice' }
export const olga: StandaloneUser = { id: '2', username: 'olga' }
export const mia: StandaloneUser = { id: '3', username: 'mia' }
export const sam: StandaloneUser = { id: '4', username: 'sam' }
export const walt: StandaloneUser = { id: '5', username: 'walt' }

type HostsDatabase = Pick<TestDatabase, 'url' | 'run'> & { readonly kind: { readonly name: string } }

/** The standalone host on a database, with the world of ./world.ts in it. */
export class OpenHost {
  readonly host: Standalone
  readonly database: HostsDatabase

  constructor(host: Standalone, database: HostsDatabase) {
    this.host = host
    this.database = database
  }

  /** Asks the API for JSON. */
  async json(caller: StandaloneUser | null, method: string, path: string): Promise<unknown> {
    const request = plainRequest({ method, path })
    const text = await readText(await this.host.api.dispatch(request, () => caller))
    return text === '' ? undefined : JSON.parse(text)
  }

  /** Everything of a repository, as an export has it. */
  exportAll(repositoryId: string): Promise<readonly ExchangeRecord[]> {
    return allOf(this.host.forge.exchange.exportAll('system', repositoryId))
  }

  /** The canonical document of a repository. */
  exported(repositoryId: string, caller: StandaloneUser | 'system' | 'anonymous' = 'system'): Promise<string> {
    return textOf(this.host.forge.exchange.export(caller, repositoryId))
  }

  /** How many rows each table of the host has, and the last event. */
  async contents(): Promise<object> {
    const { database, host } = this
    const schema = { PostgreSQL: 'current_schema()', MariaDB: 'database()' }[database.kind.name]
    const tables = await database.run(
      schema === undefined
        ? "select name from sqlite_master where type = 'table' and name like 'host_%' order by name"
        : `select table_name as name from information_schema.tables where table_schema = ${schema} and table_name like 'host_%' order by 1`,
    )
    const counts: unknown[] = []
    for (const { name } of tables) counts.push(name, await database.run(`select count(*) as count from ${name}`))
    return { counts, events: (await host.forge.events.list({}, { limit: 1 })).items }
  }
}

/** Defines tests on several kinds of databases, each with one host for all of them. */
export function onHosts(kinds: readonly AnyKind[], suite: (open: () => OpenHost) => void): void {
  onDatabases(kinds, (_open, kind) => {
    let open: OpenHost | undefined
    beforeAll(async () => {
      const database = await newDatabase(kind, { atEnd: afterAll })
      const host = await openStandalone({ db: database.url, fixture: WORLD, logger: false })
      afterAll(() => host.close())
      open = new OpenHost(host, database)
    })
    suite(() => {
      if (open === undefined) throw new TypeError('the host is not open')
      return open
    })
  })
}
