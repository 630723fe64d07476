import { CommandError } from './command-error.ts'
import type { OptionValues } from './options.ts'
import { parsePublicUrl } from './public-url.ts'

/** What `forgelet serve` is told, checked. */
export interface ServeOptions {
  readonly db: string
  readonly host: string
  readonly port: number
  readonly fixture: string | undefined
  readonly signingKey: string | undefined
  readonly maxPins: number
  /** Where clients see the API root; undefined = where the server listens. */
  readonly publicUrl: string | undefined
  readonly json: boolean
}

/**
 * Checks the options of `forgelet serve`.
 * @throws CommandError (wrong usage) for a word too many, and for a value out of its range
 */
export function serveOptions(words: readonly string[], values: OptionValues): ServeOptions {
  if (words.length > 0) throw new CommandError(2, `unexpected argument "${words[0]}": options start with "--"`)

  return {
    db: databaseFile(values.db ?? 'forgelet.sqlite'),
    host: values.host ?? '127.0.0.1',
    port: integer('--port', values.port ?? '3000', 65_535),
    fixture: values.fixture,
    signingKey: values['signing-key'],
    maxPins: integer('--max-pins', values['max-pins'] ?? '3', 1000),
    publicUrl: values['public-url'] === undefined ? undefined : parsePublicUrl(values['public-url']),
    json: values.json === true,
  }
}

function integer(name: string, text: string, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value <= most) return value
  throw new CommandError(2, `${name} ${text}: give an integer from 0 to ${most}`)
}

/** Names only the scheme of what it refuses: the rest of a database URL may hold a password. */
function databaseFile(text: string): string {
  // To the driver a blank name is a database that is gone with the process.
  if (text.trim() === '') throw new CommandError(2, '--db is blank: give a file, or ":memory:"')

  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]
  if (scheme === undefined) return text
  throw new CommandError(2, `--db ${scheme}://: this release keeps its data in SQLite; give a file, or ":memory:"`)
}
