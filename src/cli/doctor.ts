import { isForgeError } from '../index.ts'
import type { DatabaseStatus } from '../standalone/standalone.ts'
import { databaseStatus } from '../standalone/standalone.ts'
import type { IdColumns } from '../storage/sqlite.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, printResult } from './command.ts'
import { databaseRefusal, unusable } from './database.ts'
import type { SchemaOptions } from './schema.ts'
import type { ExistingDatabase } from './storage-kinds.ts'
import { existingDatabase, openStorage } from './storage-kinds.ts'

type State = DatabaseStatus['server']

/**
 * Prints the state of the tables in a database, the settings that endanger its data, and what to do.
 * @throws CommandError with the documented exit code
 */
export async function doctor(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  const place = await existingDatabase(options, io.environment, 'is empty: name the database of "forgelet serve"')
  const { forge, server } = await statusOf(place, options.ids)
  // An application has its users and issues in tables of its own.
  const isOfApplication = server === 'empty' && forge.state !== 'empty'
  const fixes = isOfApplication ? APPLICATION_FIXES : FIXES
  printResult(io, options, { db: place.database.shown, forge, server }, [
    `tables of the forge:  ${described(forge.state, fixes)}`,
    `tables of the server: ${isOfApplication ? 'none: it is the forge of an application' : described(server, fixes)}`,
    ...forge.warnings.map((warning) => `warning: ${warning}`),
  ])
  const states = isOfApplication ? [forge.state] : [forge.state, server]
  return states.every((state) => state === 'current') && forge.warnings.length === 0 ? 0 : 1
}

async function statusOf({ database, location }: ExistingDatabase, ids: IdColumns | undefined): Promise<DatabaseStatus> {
  try {
    if (ids === undefined) return await databaseStatus(location)
    const storage = await openStorage(database, { prefix: location.prefix, schema: location.schema, ids })
    return { forge: await storage.schemaStatus().finally(() => storage.close()), server: 'empty' }
  } catch (error) {
    const refusal = databaseRefusal(database, error, ids ?? {})
    if (refusal instanceof CommandError || !isForgeError(error)) throw refusal
    throw unusable(database, error.message)
  }
}

type Fixes = { readonly [S in Exclude<State, 'current'>]: string }

function described(state: State, fixes: Fixes): string {
  return state === 'current' ? state : `${state}: ${fixes[state]}`
}

const FIXES: Fixes = {
  empty: 'there are no tables: name the database of "forgelet serve", or start it on this one',
  outdated: 'start "forgelet serve" of this release: it brings the tables up to date',
  'too-new': 'a newer release has migrated the tables: install it',
  drifted: 'a table, view or column is missing, or another object has its name: restore it from a copy',
}

const APPLICATION_FIXES: Fixes = { ...FIXES, outdated: 'run "forgelet schema apply"' }
