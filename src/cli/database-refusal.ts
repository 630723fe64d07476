import { isForgeError } from '../index.ts'
import type { IdColumns } from '../storage/sqlite.ts'
import { CommandError } from './command-error.ts'

/**
 * The end of a command whose database cannot be used; any other error as it is.
 *
 * @param ids - what `--ids` says, where the command has it
 */
export function databaseRefusal(db: string, error: unknown, ids?: IdColumns): unknown {
  if (error instanceof TypeError) {
    return new CommandError(3, `database ${db} cannot be used: ${error.message}${idsOption(error.message, ids)}`)
  }
  if (!isForgeError(error)) return error
  if (error.code === 'SCHEMA_TOO_NEW') return tooNew(db, error.details.found)

  const mend = DATABASE_MENDS[error.code]
  return mend === undefined ? error : new CommandError(3, `database ${db} cannot be used: ${error.message}${mend}`)
}

/** The `--ids` that a database needs whose ids have other column types, as the storage's message names them. */
function idsOption(message: string, ids: IdColumns | undefined): string {
  const kept = [...message.matchAll(/(\w+) ids as (\w+)/g)].map(([, kind = '', column = '']) => [kind, column])
  if (ids === undefined || kept.length === 0) return ''

  const needed = Object.entries({ ...ids, ...Object.fromEntries(kept) }).filter(([, column]) => column !== 'bigint')
  if (needed.length === 0) return ': leave --ids out'
  return `: give --ids ${needed.map((pair) => pair.join('=')).join(',')}`
}

function tooNew(db: string, found: number): CommandError {
  const reason = `its tables have version ${found}, newer than this release knows`
  const mend = 'install a newer forgelet, or name another file with --db'
  return new CommandError(3, `database ${db} cannot be used: ${reason}: ${mend}`)
}

const DATABASE_MENDS: { readonly [code: string]: string | undefined } = {
  STORAGE_BUSY: '; stop the other process, or try again',
  STORAGE_UNAVAILABLE: '', // says the mend itself
}
