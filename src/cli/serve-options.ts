import { CommandError } from './command-error.ts'
import { databaseSetting, parseDatabaseFile } from './database-address.ts'
import type { OptionValues } from './options.ts'
import { parsePublicUrl } from './public-url.ts'
import type { Environment } from './terminal.ts'

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
export function serveOptions(words: readonly string[], values: OptionValues, environment: Environment): ServeOptions {
  if (words.length > 0) throw new CommandError(2, `unexpected argument "${words[0]}": options start with "--"`)

  return {
    db: parseDatabaseFile(databaseSetting(values.db, environment.FORGELET_DB)),
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
