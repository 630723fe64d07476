import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSqlContext } from '../../../../src/storage/sql/context.ts'
import { mariadbDialect } from '../../../../src/storage/sql/dialects/mariadb.ts'
import { postgresDialect } from '../../../../src/storage/sql/dialects/postgres.ts'
import { sqliteDialect } from '../../../../src/storage/sql/dialects/sqlite.ts'
import { ledgerOf, versionsOf } from '../../../../src/storage/sql/schema/ddl.ts'

const DIALECTS = { sqlite: sqliteDialect, postgresql: postgresDialect, mariadb: mariadbDialect }

const UPDATE = 'npx vitest run --project=quick test/storage/sql/schema --update'

/** Every type of id. */
const ids = { user: 'bigint', organization: 'uuid', repository: 'text', issue: 'bigint' } as const

for (const [database, dialect] of Object.entries(DIALECTS)) {
  const context = createSqlContext(dialect, { ids })
  for (const [version, statements] of [ledgerOf(context).made, ...versionsOf(context)].entries()) {
    test(`version ${version} makes on ${database} what it has made since it was released`, async () => {
      const sql = statements.map((statement) => `${statement.sql.trim()};\n`).join('')
      const file = join(import.meta.dirname, `version-${version}.${database}.sql`)
      const advice = existsSync(file)
        ? `databases that have version ${version} do not get this change. To do: leave version ${version} as it is, and make a new one (since in tables.ts, ADDED in ddl.ts). Only if no release has version ${version}, write its files again: ${UPDATE}`
        : `version ${version} is new. To do: write its files: ${UPDATE}`

      await expect(sql, advice).toMatchFileSnapshot(file)
    })
  }
}
