import { existsSync } from 'node:fs'
import type { Command } from '@commander-js/extra-typings'
import { isForgeError } from 'forgelet'
import type { SqlDialectName } from 'forgelet/storage'
import type { DatabaseLocation } from '../standalone/host-store/open-host-database.ts'
import { isOtherUrl, serverKind } from '../standalone/host-store/open-host-database.ts'
import type { CommandIO, Environment, ResultOptions } from './command.ts'
import { CommandError } from './command.ts'
import { systemCode } from './files.ts'

/** The options that name a database, and the tables in it. */
export type DatabaseOptions = Omit<DatabaseLocation, 'db'> & { readonly db?: string | undefined }

/** The help of every command that has `--db`. */
export const DATABASE_HELP = `Without --db, the environment variable FORGELET_DB names the database. Use it for a URL with a
password: other users of the machine can see the command line, but not the environment.`

/** Adds the options that find a database. */
export function inDatabase(
  command: Command<[], ResultOptions>,
  files: string = 'or an SQLite file',
): Command<[], ResultOptions & DatabaseOptions> {
  return command
    .option('--db <url|file>', `postgres://…, mysql://…, ${files} (default: FORGELET_DB, or forgelet.sqlite)`)
    .option('--prefix <prefix>', 'prefix of every table name')
    .option('--schema <schema>', 'schema of the tables, on PostgreSQL')
    .addHelpText('after', `\n${DATABASE_HELP}`)
}

/** The database of a command, and where its tables are. */
export interface Database extends DatabaseLocation {
  readonly kind: SqlDialectName
  /** `db` without credentials, for use in messages. */
  readonly shown: string
}

/** How the user names a database of a command. */
export interface DatabaseNames {
  readonly option: string
  readonly schema: string
  readonly variable: keyof Environment
  /** The database if the user names none. */
  readonly file: string
}

/** How most commands name it. */
export const BY_DB: DatabaseNames = {
  option: '--db',
  schema: '--schema',
  variable: 'FORGELET_DB',
  file: 'forgelet.sqlite',
}

/**
 * Reads the options that name the database of a command: `--db`, else `FORGELET_DB` unless it is empty.
 * @throws CommandError (wrong usage); the message contains at most the scheme of a URL that cannot be read
 */
export function databaseOf(
  { db, prefix, schema }: DatabaseOptions,
  io: CommandIO,
  by: DatabaseNames = BY_DB,
): Database {
  const preset = io.environment[by.variable]
  const [name, given] = db === undefined && preset ? [by.variable, preset] : [by.option, db ?? by.file]
  const text = given.trim() // as drivers do: a variable that was read from a file may end in a line break
  // A blank name is a database that the driver deletes. A shell leaves out a variable that is not set: the next option follows.
  if (/^(-|$)/.test(text)) throw new CommandError(2, `${name} is blank: give a URL or a file`)

  const scheme = /^([a-z][a-z0-9+.-]+:\/\/)/i.exec(text)?.[1] ?? ''
  const kind = serverKind(text) ?? 'sqlite'
  if (kind === 'sqlite' && (isOtherUrl(text) || mayHoldPassword(text))) {
    throw new CommandError(2, `${`${name} ${scheme}`.trim()}: give a postgres:// or mysql:// URL, or an SQLite file`)
  }
  if (schema !== undefined && kind !== 'postgres') {
    throw new CommandError(
      2,
      `${by.schema} is for PostgreSQL: leave it out, or give a postgres:// URL with ${by.option}`,
    )
  }
  const shown = kind === 'sqlite' ? text : withoutCredentials(text)
  if (shown !== undefined) return { kind, db: text, shown, prefix, schema }
  throw new CommandError(
    2,
    `${name} ${scheme}: the URL cannot be read; write ${scheme}user:password@host/database, and special characters of the password in percent-encoding`,
  )
}

/**
 * Like `databaseOf`, for a command that does not create the database: SQLite would create a missing file.
 * @throws CommandError (wrong usage), or (database) if the file does not exist
 */
export function existingDatabase(options: DatabaseOptions, io: CommandIO, by: DatabaseNames = BY_DB): Database {
  const database = databaseOf(options, io, by)
  if (database.db === ':memory:') throw new CommandError(2, `${by.option} :memory: is empty: give a file, or a URL`)
  if (database.kind !== 'sqlite' || existsSync(database.db)) return database
  throw unusable(database, `the file does not exist: correct the path, or ${CREATION}`)
}

/** What to do about tables that are missing or outdated. */
export const CREATION = 'run "forgelet serve", for an application "forgelet schema apply"'

/**
 * Returns a URL without its credentials. Returns undefined if it cannot be read, or if a "/", "?" or "#" in the password
 * ends the host early, so that the rest of the password is in the path.
 */
function withoutCredentials(text: string): string | undefined {
  try {
    decodeURIComponent(text)
    // libpq and pg take the host from the parameters if there is none here, which a URL with a user must have.
    const { protocol, host, pathname, search, hash } = new URL(
      text.replace(/^(postgres(?:ql)?:\/\/)[^/?#]*@\//i, '$1/'),
    )
    return `${pathname}${search}${hash}`.includes('@') ? undefined : `${protocol}//${host}${pathname}`
  } catch {
    return undefined
  }
}

/**
 * Returns true if a value of the command line looks like the address of a database with its password: a URL of any
 * scheme, `user:password@host`, or a list of settings with a password. Such a value is neither used as a file name nor
 * printed.
 */
export function mayHoldPassword(text: string): boolean {
  const withoutDrive = text.replace(/^[a-z]:[\\/]/i, '') // C:\data\me@example.com is a path
  const colon = withoutDrive.indexOf(':')
  if (colon !== -1 && withoutDrive.lastIndexOf('@') > colon) return true // an expression for it would be quadratic
  return /:\/\/|(?:password|passwd|pwd)\s*=/i.test(withoutDrive)
}

/** Returns the error that ends a command because its database cannot be used. */
export function unusable({ shown }: Database, reason: string): CommandError {
  return new CommandError(3, `database ${shown} cannot be used: ${reason}`)
}

/** Runs work on a database. @throws CommandError if the database cannot be used, or an option is not valid */
export async function onDatabase<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(2, forOptions(error.message))
    const reported = driverReport(error)
    if (reported !== undefined) throw unusable(database, reported)
    if (!isForgeError(error) || !/^(STORAGE|SCHEMA)_/.test(error.code)) throw error
    throw unusable(database, FIXES[error.code] ?? `${forOptions(error.message)}${otherServer(database)}`)
  }
}

/**
 * Returns what an error says that a storage passes on as it is: that of a driver whose code has no other meaning, without the
 * SQL that it may quote. Undefined for any other error, also for one of the system.
 */
export function driverReport(error: unknown): string | undefined {
  if (!(error instanceof Error) || isForgeError(error) || systemCode(error) !== undefined) return undefined
  if (!('code' in error) || typeof error.code !== 'string') return undefined
  return `it reports "${error.message.replace(/(?:at or )?near ["'].*/s, '…')}" (${error.code})`
}

const FIXES: { readonly [code: string]: string | undefined } = {
  SCHEMA_TOO_NEW: 'its tables are for newer releases only: install a newer forgelet',
  SCHEMA_OUTDATED: 'its tables are missing or older: start "forgelet serve" of this release on it first',
  STORAGE_BUSY: 'another process has locked it: stop that process, or try again',
}

/** Rewrites a message for programs: they pass handles, and open storages. */
function forOptions(message: string): string {
  return message
    .replace(/, or pass .*/, '')
    .replace(/open the storage with the same tables/, 'give the same with --tables FILE')
    .replace(/open the storage with .*/, 'give the same with --ids')
}

/** Returns a hint if the port of the URL is one on which servers of the other kind listen. */
function otherServer({ kind, shown }: Database): string {
  if (kind === 'sqlite') return ''
  const [port, scheme] = kind === 'postgres' ? ['3306', 'mysql'] : ['5432', 'postgres']
  return new URL(shown).port === port ? `; ${port} is usually the port of a ${scheme}:// URL` : ''
}
