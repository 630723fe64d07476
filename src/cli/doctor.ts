import { isForgeError } from '../index.ts'
import type { DatabaseStatus } from '../standalone/standalone.ts'
import { databaseStatus } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import type { DatabaseOptions } from './database.ts'
import { databaseRefusal } from './database.ts'
import type { ExistingDatabase } from './storage-kinds.ts'
import { existingDatabase } from './storage-kinds.ts'

/** The options of `forgelet doctor`. */
export interface DoctorOptions extends DatabaseOptions {
  readonly json?: true | undefined
}

type State = DatabaseStatus['server']

/**
 * Prints the state of the tables in a database, the settings that endanger its data, and what to do.
 * @throws CommandError with the documented exit code
 */
export async function doctor(options: DoctorOptions, io: CommandIO): Promise<ExitCode> {
  const place = await existingDatabase(options, io.environment, 'is empty: name the database of "forgelet serve"')
  const { forge, server } = await statusOf(place)
  // An application has its users and issues in tables of its own.
  const isOfApplication = server === 'empty' && forge.state !== 'empty'
  if (options.json) io.out(JSON.stringify({ db: place.database.shown, forge, server }))
  else {
    io.out(`tables of the forge:  ${described(forge.state)}`)
    io.out(`tables of the server: ${isOfApplication ? 'none: it is the forge of an application' : described(server)}`)
    for (const warning of forge.warnings) io.out(`warning: ${warning}`)
  }
  const states = isOfApplication ? [forge.state] : [forge.state, server]
  return states.every((state) => state === 'current') && forge.warnings.length === 0 ? 0 : 1
}

async function statusOf({ database, location }: ExistingDatabase): Promise<DatabaseStatus> {
  try {
    return await databaseStatus(location)
  } catch (error) {
    const refusal = databaseRefusal(database, error)
    if (refusal instanceof CommandError || !isForgeError(error)) throw refusal
    throw new CommandError(3, `database ${database.shown} cannot be used: ${error.message}`)
  }
}

function described(state: State): string {
  return state === 'current' ? state : `${state}: ${FIXES[state]}`
}

const FIXES: { readonly [S in Exclude<State, 'current'>]: string } = {
  empty: 'there are no tables: name the database of "forgelet serve", or start it on this one',
  outdated: 'start "forgelet serve" of this release: it brings the tables up to date',
  'too-new': 'a newer release has migrated the tables: install it',
  drifted: 'a table, view or column is missing, or another object has its name: restore it from a copy',
}
