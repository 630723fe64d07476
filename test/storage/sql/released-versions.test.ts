import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { HostSchema } from '../../../src/standalone/host-store/host-schema.ts'
import { hostContext } from '../../../src/standalone/host-store/tables.ts'
import { createSqlContext } from '../../../src/storage/sql/context.ts'
import type { SqlDialect } from '../../../src/storage/sql/dialect.ts'
import { mysqlDialect } from '../../../src/storage/sql/dialects/mariadb.ts'
import { postgresDialect } from '../../../src/storage/sql/dialects/postgres.ts'
import { sqliteDialect } from '../../../src/storage/sql/dialects/sqlite.ts'
import type { Schema } from '../../../src/storage/sql/schema/schema.ts'
import { forgeSchema } from '../../../src/storage/sql/schema/schema.ts'

const MESSAGE =
  'nothing brings tables that exist to the new form of a version that is released: append a version to `versions` that adds what is new, and its digest here. Until 0.1.0 is released, correct the digest if the change is meant'

/** Digests of the statements: of the ledger, and of each version from 1. */
const DIGESTS = {
  SQLite: {
    forge: ['5a4ef2200157830b', '545251f956dbfc10'],
    host: ['6706a86b62fb5698', 'f7f180e2a481d5f9'],
  },
  PostgreSQL: {
    forge: ['ca2abcf820fc2674', '9eb5885fc0dc6fc0'],
    host: ['69c34d5c39b96a2c', 'd111f1c51ca86d00'],
  },
  MariaDB: {
    forge: ['4e7d6de21d4fa5f4', '046ab60a2e71b1e6'],
    host: ['985124b96d25f359', 'ac276c91b1d2a30f'],
  },
}

test('the tables of a version are created by the same statements for ever', () => {
  expect(
    {
      SQLite: digestsOn(sqliteDialect),
      PostgreSQL: digestsOn(postgresDialect),
      MariaDB: digestsOn(mysqlDialect),
    },
    MESSAGE,
  ).toEqual(DIGESTS)
})

function digestsOn(dialect: SqlDialect) {
  const context = createSqlContext(dialect)
  const forge = forgeSchema(context)
  return { forge: digestsOf(forge), host: digestsOf(new HostSchema(hostContext(context), forge)) }
}

function digestsOf(schema: Schema): readonly string[] {
  const digests: string[] = []
  let missing = schema.missingSince(undefined)
  for (let version = 0; missing.length > 1; version += 1) {
    const later = schema.missingSince(version) // without anything to create, one statement: it notes the version
    const own = missing.slice(0, missing.length - later.length).map(({ sql }) => sql)
    digests.push(createHash('sha256').update(own.join(';\n')).digest('hex').slice(0, 16))
    missing = later
  }
  return digests
}
