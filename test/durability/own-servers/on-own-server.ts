import { existsSync } from 'node:fs'
import { describe, test } from 'vitest'
import { serversAreRequired } from '../../storage/databases/servers.ts'
import { mariadbPrograms, startOwnMariadb } from './own-mariadb.ts'
import { postgresBin, startOwnPostgres } from './own-postgres.ts'
import type { OwnServer } from './own-server.ts'

/** Starts a server; undefined where its programs are not installed. */
export type StartOwnServer = (() => Promise<OwnServer>) | undefined

/** How a PostgreSQL is started here. */
export function ownPostgres(): StartOwnServer {
  const bin = postgresBin()
  return bin === undefined ? undefined : () => startOwnPostgres(bin)
}

/** How a MariaDB is started here. */
export function ownMariadb(): StartOwnServer {
  const programs = mariadbPrograms()
  return programs === undefined ? undefined : () => startOwnMariadb(programs)
}

/**
 * A group of tests that start, and kill, a server of their own. Where it cannot be started one loud line says so, and one
 * test carries it; that test fails under `FORGELET_REQUIRE_DB=1`.
 */
export function onOwnServer(
  name: string,
  start: StartOwnServer,
  suite: (start: () => Promise<OwnServer>) => void,
): void {
  if (start !== undefined && existsSync('/proc/self/stat') && existsSync('/usr/bin/setpriv')) {
    describe(`a ${name} server of its own`, () => suite(start))
    return
  }

  const message = `NOT RUN: what kills a ${name} server needs Linux and its programs, which this machine does not have`
  process.stderr.write(`\n*** ${message} ***\n`)
  test(message, () => {
    if (serversAreRequired()) throw new Error(message)
  })
}
