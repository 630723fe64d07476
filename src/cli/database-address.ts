import { CommandError } from './command-error.ts'

/** Where a database is, as `--db` has it. */
export interface DatabaseAddress {
  readonly kind: 'sqlite' | 'postgres' | 'mysql'
  /** A file, or a URL that may hold a password. */
  readonly location: string
  /** Fit to be shown. */
  readonly shown: string
}

const KINDS: { readonly [scheme: string]: DatabaseAddress['kind'] | undefined } = {
  postgres: 'postgres',
  postgresql: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
}

/**
 * Reads what `--db` says: a URL, or else a file.
 * @throws CommandError (wrong usage) for what is neither; it tells no more of a URL than its scheme
 */
export function parseDatabase(text: string): DatabaseAddress {
  // To the driver a blank name is a database that is gone with the process.
  if (text.trim() === '') throw new CommandError(2, '--db is blank: give a URL or a file')

  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]
  return scheme === undefined ? { kind: 'sqlite', location: text, shown: text } : server(scheme, text)
}

function server(scheme: string, text: string): DatabaseAddress {
  const kind = KINDS[scheme.toLowerCase()]
  if (kind === undefined) {
    throw new CommandError(2, `--db ${scheme}://: give a postgres:// or mysql:// URL, or an SQLite file`)
  }
  if (!URL.canParse(text)) {
    throw new CommandError(
      2,
      `--db ${scheme}://: the URL cannot be read; write ${scheme}://user:password@host/database`,
    )
  }
  const { protocol, host, pathname } = new URL(text)
  return { kind, location: text, shown: `${protocol}//${host}${pathname}` }
}
