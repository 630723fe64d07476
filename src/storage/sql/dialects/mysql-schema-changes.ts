import type { SchemaChanges } from '../migrations/schema-changes.ts'
import type { SchemaStatement } from '../migrations/schema-statement.ts'
import { tell } from '../session.ts'

/** MariaDB commits every change of a table at once: each statement is written so that it can be run again. */
export const mysqlSchemaChanges: SchemaChanges = {
  lock: () => ({
    sql: `select if(get_lock(${LOCK}, 0) = 1, 'taken', 'busy') as \`lock\``,
    parameters: [],
    returnsRows: true,
  }),
  unlock: () => ({ sql: `select release_lock(${LOCK}) as unlocked`, parameters: [], returnsRows: true }),
  units: (statements) => statements.map((statement) => [statement]),
  *run(session, unit) {
    for (const statement of unit) yield* tell(session, bounded(statement))
  },
  *index(session, { statement }) {
    yield* tell(session, bounded(statement))
  },
}

/**
 * Two prefixes can meet in one name, so both wait for the one lock of their database. Its name is at most 64 characters
 * long, and shared by all databases of the server.
 */
const LOCK = "concat('forgelet migrates ', sha1(database()))"

/** A waiting change of a table keeps everybody from reading it. A host's limit for statements is not meant for these. */
const LIMITS = 'lock_wait_timeout = 2, innodb_lock_wait_timeout = 2, max_statement_time = 0'

function bounded(statement: SchemaStatement): SchemaStatement {
  return { ...statement, sql: `set statement ${LIMITS} for ${statement.sql}` }
}
