import { isForgeError } from '../index.ts'
import { CommandError } from './command-error.ts'

/** The end of a command whose database cannot be used; any other error as it is. */
export function databaseRefusal(db: string, error: unknown): unknown {
  // Made by a host with other kinds of ids.
  if (error instanceof TypeError) return new CommandError(3, `database ${db} cannot be used: ${error.message}`)
  if (!isForgeError(error)) return error
  if (error.code === 'SCHEMA_TOO_NEW') return tooNew(db, error.details.found)

  const mend = DATABASE_MENDS[error.code]
  return mend === undefined ? error : new CommandError(3, `database ${db} cannot be used: ${error.message}${mend}`)
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
