import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { storageContract } from '../../app/testing/testing.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
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
  test.each(FAULTS)('a storage with tables that %s is caught by "%s"', async (_name, caughtBy, locks, instead) => {
    let altered = 0
    const alter = (query: unknown): unknown => {
      const text = typeof query === 'string' ? query : String(Reflect.get(Object(query), 'text'))
      if (text.search(locks) < 0) return query
      altered += 1
      return { ...Object(query), text: text.replaceAll(locks, instead) }
    }
    const kind = postgresKind((url, options) => {
      const pool = new pg.Pool({ connectionString: String(url) })
      pool.on('connect', (client) => {
        const send = client.query
        client.query = (query: unknown, ...rest: unknown[]) => Reflect.apply(send, client, [alter(query), ...rest])
      })
      const storage: ForgeStorage<pg.Client> = postgresStorage(pool, options)
      return { ...storage, close: () => storage.close().finally(() => pool.end()) }
    })
    const { open, host, end } = storageKind(kind)
    afterAll(end)
    const cases = storageContract(open, host).filter(({ name }) => name.startsWith(caughtBy))
    const outcomes = await Promise.allSettled(cases.map(async ({ run }) => run()))

    expect(altered).toBeGreaterThan(0)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected'])
  })
})
