import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { storageContract } from '../../app/testing/testing.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { DatabaseKind } from '../databases.ts'
import { onServer, postgresKind, SERVERS } from '../databases.ts'
import { storageKind } from '../storage/storage-kind.ts'

/** A fault in the locks on rows of the host: what is sent in place of which text, and the first words of a case that sees it. */
type Fault = readonly [name: string, caughtBy: string, locks: RegExp, instead: string]

const HIDING = 'a change that meets a row which a host’s transaction hides (begin) is refused'

/** The locks are in the subqueries that find rows of the host. On MariaDB the insert itself waits for such a row. */
const FAULTS: readonly Fault[] = [
  ['keeps a row only from being deleted, though it may be hidden', HIDING, / for share\)/g, ' for key share)'],
  ['does not lock rows that may be hidden', HIDING, / for share\)/g, ')'],
]
onServer(SERVERS.postgres, () => {
  planted((alter) =>
    postgresKind((url, options) => {
      const pool = new pg.Pool({ connectionString: String(url) })
      pool.on('connect', (client) => altering(client, (query) => ({ ...Object(query), text: alter(textOf(query)) })))
      const storage: ForgeStorage<pg.Client> = postgresStorage(pool, options)
      return { ...storage, close: () => storage.close().finally(() => pool.end()) }
    }),
  )
})

function planted<Tx>(kindOf: (alter: (sql: string) => string) => DatabaseKind<Tx>): void {
  test.each(FAULTS)('a storage with tables that %s is caught by "%s"', async (_name, caughtBy, locks, instead) => {
    let altered = 0
    const kind = kindOf((sql) => {
      const text = sql.replaceAll(locks, instead)
      if (text !== sql) altered += 1
      return text
    })
    const { open, host, end } = storageKind(kind)
    afterAll(end)
    const cases = storageContract(open, host).filter(({ name }) => name.startsWith(caughtBy))
    const outcomes = await Promise.allSettled(cases.map(async ({ run }) => run()))

    expect(altered).toBeGreaterThan(0)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected'])
  })
}

/** Lets a connection send other texts than it is given. */
function altering(connection: object, alter: (query: unknown) => unknown): void {
  const query: unknown = Reflect.get(connection, 'query')
  if (typeof query !== 'function') throw new TypeError('a connection has a method query')
  Reflect.set(connection, 'query', (first: unknown, ...rest: unknown[]) =>
    Reflect.apply(query, connection, [alter(first), ...rest]),
  )
}

function textOf(query: unknown): string {
  return typeof query === 'string'
    ? query
    : String(Reflect.get(Object(query), 'text') ?? Reflect.get(Object(query), 'sql'))
}
