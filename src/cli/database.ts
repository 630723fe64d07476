import { isForgeError } from '../index.ts'
import type { IdColumns } from '../storage/sqlite.ts'
import type { Environment, ResultOptions } from './command.ts'
import { CommandError } from './command.ts'

/** The address of a database. */
export interface DatabaseAddress {
  readonly kind: 'sqlite' | 'postgres' | 'mysql'
  /** A file name, or a URL that may contain a password. */
  readonly location: string
  /** The location without credentials, for use in messages. */
  readonly shown: string
}

/** The options that name a database. */
export interface DatabaseOptions extends ResultOptions {
  readonly db?: string | undefined
  readonly prefix?: string | undefined
  readonly schema?: string | undefined
}

const DEFAULT_FILE = 'forgelet.sqlite'

const KINDS: { readonly [scheme: string]: DatabaseAddress['kind'] | undefined } = {
  'postgres://': 'postgres',
  'postgresql://': 'postgres',
  'mysql://': 'mysql',
  'mariadb://': 'mysql',
}

/** What a command needs of its database. */
interface DatabaseNeeds {
  /** Why `:memory:` is refused. Undefined: the command accepts it. */
  readonly refuseMemory?: string | undefined
  /** False if the command does not connect, so that a URL may name a server only. Default: true. */
  readonly connects?: boolean
}

/**
 * Checks the options that name the database of a command.
 * @throws CommandError (wrong usage); the message contains at most the scheme of a URL that cannot be read
 */
export function databaseAddress(
  { db, schema }: DatabaseOptions,
  environment: Environment,
  { refuseMemory, connects = true }: DatabaseNeeds = {},
): DatabaseAddress {
  const address = parseDatabase(db, environment.FORGELET_DB)
  const { kind, location, shown } = address
  if (schema !== undefined && kind !== 'postgres') {
    throw new CommandError(2, '--schema is for PostgreSQL: leave it out, or give a postgres:// URL with --db')
  }
  // PostgreSQL connects to the database that is called like the user.
  if (connects && kind === 'mysql' && new URL(location).pathname.length <= 1) {
    throw new CommandError(2, `the URL ${shown} names no database: write mysql://user@host/database`)
  }
  if (refuseMemory !== undefined && location === ':memory:') {
    throw new CommandError(2, `--db :memory: ${refuseMemory}`)
  }
  return address
}

/**
 * Parses the option, else the environment variable unless it is empty: a URL or a file.
 * @throws CommandError (wrong usage) for anything else
 */
function parseDatabase(option: string | undefined, variable: string | undefined): DatabaseAddress {
  const [name, text] = option === undefined && variable ? ['FORGELET_DB', variable] : ['--db', option ?? DEFAULT_FILE]
  // The driver would open a database that is deleted when the process ends.
  if (text.trim() === '') throw new CommandError(2, `${name} is blank: give a URL or a file`)

  const scheme = /^([a-z][a-z0-9+.-]+:\/\/)/i.exec(text)?.[1] ?? ''
  const kind = KINDS[scheme.toLowerCase()]
  if (kind === undefined) {
    if (!mayHoldPassword(text)) return { kind: 'sqlite', location: text, shown: text }
    const given = `${name} ${scheme}`.trim()
    throw new CommandError(2, `${given}: give a postgres:// or mysql:// URL, or an SQLite file`)
  }
  const shown = withoutCredentials(text)
  if (shown !== undefined) return { kind, location: text, shown }
  throw new CommandError(
    2,
    `${name} ${scheme}: the URL cannot be read; write ${scheme}user:password@host/database, and special characters of the password in percent-encoding`,
  )
}

/**
 * Returns a URL without its credentials. Returns undefined if it cannot be read, or if a "/", "?" or "#" in the password
 * ends the host early, so that the rest of the password is in the path.
 */
function withoutCredentials(text: string): string | undefined {
  try {
    decodeURIComponent(text)
    const { protocol, host, pathname, search, hash } = new URL(text)
    return `${pathname}${search}${hash}`.includes('@') ? undefined : `${protocol}//${host}${pathname}`
  } catch {
    return undefined
  }
}

/** Returns the error that ends a command because its database cannot be used. */
export function unusable({ shown }: DatabaseAddress, reason: string): CommandError {
  return new CommandError(3, `database ${shown} cannot be used: ${reason}`)
}

/**
 * Converts an error of the database to the CommandError that ends the command. Returns any other error unchanged.
 *
 * @param ids - the value of `--ids`, if the command has this option
 */
export function databaseRefusal(database: DatabaseAddress, error: unknown, ids?: IdColumns): unknown {
  if (error instanceof TypeError) return unusable(database, `${error.message}${idsOption(error.message, ids)}`)
  if (!isForgeError(error)) return error
  if (error.code === 'SCHEMA_TOO_NEW') return tooNew(database, error.details.found)

  const fix = otherServer(database, error.code) ?? DATABASE_FIXES[error.code]
  const message = error.message.replace(/, or pass .*/, '') // what only a program can do
  return fix === undefined ? error : unusable(database, `${message}${fix}`)
}

/**
 * Returns the `--ids` option that the database needs if its ids have other column types. The message of the storage
 * names these types.
 */
function idsOption(message: string, ids: IdColumns | undefined): string {
  const kept = [...message.matchAll(/(\w+) ids as (\w+)/g)].map(([, kind = '', column = '']) => [kind, column])
  if (ids === undefined || kept.length === 0) return ''

  const needed = Object.entries({ ...ids, ...Object.fromEntries(kept) }).filter(([, column]) => column !== 'bigint')
  if (needed.length === 0) return ': leave --ids out'
  return `: give --ids ${needed.map((pair) => pair.join('=')).join(',')}`
}

function tooNew(database: DatabaseAddress, found: number): CommandError {
  const reason = `its tables have version ${found}, newer than this release supports`
  const fix = `install a newer forgelet, or name another ${database.kind === 'sqlite' ? 'file' : 'database'} with --db`
  return unusable(database, `${reason}: ${fix}`)
}

/** The default port of each kind of server. */
const PORTS = { postgres: '5432', mysql: '3306' } as const

/** Returns what to do if a server did not answer as the URL expects, on a port where servers of the other kind listen. */
function otherServer({ kind, location }: DatabaseAddress, code: string): string | undefined {
  if (kind === 'sqlite' || code !== 'STORAGE_UNAVAILABLE') return undefined
  const other = kind === 'postgres' ? 'mysql' : 'postgres'
  const { port } = new URL(location)
  return port === PORTS[other] ? `; ${port} is usually the port of a ${other}:// URL` : undefined
}

const DATABASE_FIXES: { readonly [code: string]: string | undefined } = {
  STORAGE_BUSY: '; stop the other process, or try again',
  // The messages of these name the fix.
  STORAGE_UNAVAILABLE: '',
  SCHEMA_CONFLICT: '',
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
