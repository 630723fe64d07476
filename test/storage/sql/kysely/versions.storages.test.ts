import * as kysely27 from 'kysely27'
import * as kysely29 from 'kysely29'
import { afterAll, describe, expect, test } from 'vitest'
import type { KyselyTransaction } from '../../../../src/storage/kysely.ts'
import { storageContract } from '../../../../src/testing/testing.ts'
import type { AnyKysely, HostTables } from '../../databases/kysely-sqlite.ts'
import { kyselySqliteKind, openHandle } from '../../databases/kysely-sqlite.ts'

/** What there is of the contract about a host's transactions, and enough of the rest. */
const CASES =
  /host’s transaction|of a block (returns|writes|passes|is invisible)|visible|consistently|number|two storages in one database/

describe('Kysely 0.27', () => {
  suite((file) => {
    const { Kysely, SqliteDialect, CamelCasePlugin } = kysely27
    const dialect = new SqliteDialect({ database: openHandle(file) })
    return new Kysely<HostTables>({ dialect, plugins: [new CamelCasePlugin()] })
  })
})

// It is for Node 22 and newer, and runs on the older one that we begin with.
describe('Kysely 0.29', () => {
  suite((file) => {
    const { Kysely, SqliteDialect, CamelCasePlugin } = kysely29
    const dialect = new SqliteDialect({ database: openHandle(file) })
    return new Kysely<HostTables>({ dialect, plugins: [new CamelCasePlugin()] })
  })
})

function suite<Tx extends KyselyTransaction>(open: (file: string) => AnyKysely<Tx>): void {
  const kind = kyselySqliteKind(open)
  const cases = storageContract(kind.open, kind.host).filter(({ name }) => CASES.test(name))
  afterAll(kind.end)

  for (const each of cases) test(each.name, each.run)

  test('has had all of this shown', () => {
    expect(cases.length).toBeGreaterThan(50)
  })
}
