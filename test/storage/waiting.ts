import { setTimeout as pause } from 'node:timers/promises'
import type { TestDatabase } from '../databases.ts'

const WAITERS = {
  postgres: "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  mysql:
    'select trx_id from information_schema.innodb_trx join information_schema.processlist ' +
    "on id = trx_mysql_thread_id where db = database() and trx_state = 'LOCK WAIT'",
}

/** Settles when a connection to the database waits for a lock. */
export async function untilOneWaits(database: Pick<TestDatabase, 'url' | 'run'>): Promise<void> {
  const waiters = database.url.startsWith('mysql:') ? WAITERS.mysql : WAITERS.postgres
  // MariaDB shows what it showed before to those who ask again within a tenth of a second.
  while ((await database.run(waiters)).length === 0) await pause(150)
}
