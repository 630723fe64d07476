import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import type { Statement } from '../../storage/sql/query.ts'
import type { Queryable } from '../../storage/sql/session.ts'
import { query, queryFirst } from '../../storage/sql/session.ts'
import type { SchemaStatus } from '../../storage/storage.ts'

/** One thing that was checked in a database. */
export interface Finding {
  /** What was checked. */
  readonly check: string
  readonly found: string
  /** What to do about it. Undefined: nothing. */
  readonly advice: string | undefined
}

/** Checks of one kind of database: its settings, its clock, its connections. Writes nothing. */
export type DatabaseChecks = (session: Queryable) => SyncOrAsync<readonly Finding[]>

/** Returns what was found in the tables of the forge or of the host. */
export function tablesFinding(check: string, state: SchemaStatus['state']): Finding {
  return { check, found: state, advice: state === 'current' ? undefined : TABLES_ADVICE[state] }
}

const TABLES_ADVICE: { readonly [S in Exclude<SchemaStatus['state'], 'current'>]: string } = {
  empty: 'there are no tables: name the database of "forgelet serve", or start it on this one',
  outdated: 'start "forgelet serve" of this release: it brings the tables up to date',
  'too-new': 'a newer release has migrated the tables: install it',
  drifted: 'a table, view, column, index or trigger is missing, or another object has its name: restore it from a copy',
}

/** A setting, the value that it should have, and what happens otherwise. */
export interface WantedSetting {
  readonly name: string
  readonly isRight: (value: string) => boolean
  readonly advice: string
}

/** Compares settings with what they should be. Those that the server does not have are left out. */
export function* settingFindings(
  session: Queryable,
  statement: Statement<{ readonly name: string; readonly value: string }>,
  wanted: readonly WantedSetting[],
): SyncOrAsync<readonly Finding[]> {
  const rows = yield* query(session, statement)
  const values = new Map(rows.map(({ name, value }) => [name, value]))
  return wanted.flatMap(({ name, isRight, advice }) => {
    const value = values.get(name)
    return value === undefined ? [] : [{ check: name, found: value, advice: isRight(value) ? undefined : advice }]
  })
}

/** The difference between two clocks that has no visible effect, in milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = 1000

/** Compares the clock of a server with that of this process. @param statement - returns milliseconds since 1970 */
export function* clockFinding(
  session: Queryable,
  statement: Statement<{ readonly now: string }>,
): SyncOrAsync<Finding> {
  const sent = Date.now()
  const row = yield* queryFirst(session, statement)
  const received = Date.now()
  const difference = Math.round(Number(row?.now) - (sent + received) / 2)
  const isFar = Math.abs(difference) > MAX_CLOCK_DIFFERENCE_MS + (received - sent) / 2
  return {
    check: 'clock',
    found: difference === 0 ? 'the same as here' : `${Math.abs(difference)} ms ${difference > 0 ? 'ahead' : 'behind'}`,
    advice: isFar ? 'set the clocks of this machine and of the database by NTP: times in the data differ' : undefined,
  }
}

/** How many connections a server accepts, and how many are open. */
export interface ConnectionCounts {
  readonly limit: number
  /** Those that only administrators can use. */
  readonly reserved: number
  readonly open: number
}

/**
 * Returns whether one more process fits.
 *
 * @param pool - the connections of a process
 * @param parameter - the parameter of the URL that limits them
 */
export function connectionsFinding(
  { limit, reserved, open }: ConnectionCounts,
  pool: number,
  parameter: string,
): Finding {
  const free = Math.max(0, limit - reserved - open)
  return {
    check: 'connections',
    found: `${open} open, ${free} free of ${limit}; a process takes up to ${pool}`,
    advice:
      free >= pool
        ? undefined
        : `another process does not fit: raise max_connections, or lower ${parameter} in the URL of each process`,
  }
}
