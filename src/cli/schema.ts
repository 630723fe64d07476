import type { IdColumns } from '../storage/sqlite.ts'
import type { SchemaStatus } from '../storage/storage.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, printResult, toldToStop } from './command.ts'
import type { DatabaseAddress, DatabaseOptions } from './database.ts'
import { databaseAddress, databaseRefusal } from './database.ts'
import { openStorage, planSchema, refuseMissingFile } from './storage-kinds.ts'

/** The options of `forgelet schema` and `forgelet doctor`. */
export interface SchemaOptions extends DatabaseOptions {
  /** The column types of the ids; undefined = `bigint`, or a database of `forgelet serve`. */
  readonly ids?: IdColumns | undefined
}

/** Prints the SQL that creates the tables, without a connection. @throws CommandError with the documented exit code */
export async function planSchemaOf(
  options: SchemaOptions & { readonly from: number },
  io: CommandIO,
): Promise<ExitCode> {
  const { prefix, schema, ids = {}, from } = options
  const database = databaseAddress(options, io.environment, { connects: false })
  const statements = await planSchema(database, { prefix, schema, ids, from })
  printResult(
    io,
    options,
    { statements },
    statements.map((statement) => `${statement};`),
  )
  return 0
}

/** Reports the state of the tables of a database. @throws CommandError with the documented exit code */
export function schemaStatus(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  return withStorage(options, io, async (storage, database) => {
    refuseMissingFile(database, 'schema apply')
    const found = await storage.schemaStatus()
    print(found, options, io)
    return found.state === 'current' && found.warnings.length === 0 ? 0 : 1
  })
}

/** Brings the tables of a database up to date. @throws CommandError with the documented exit code */
export function applySchema(options: SchemaOptions, io: CommandIO): Promise<ExitCode> {
  return withStorage(options, io, async (storage, { shown }) => {
    const { state } = await storage.schemaStatus()
    if (state === 'current') io.err(`forgelet: the schema of ${shown} is already up to date`)
    else await migrate(storage, `the schema of ${shown} is ${state}: updating it`, io)

    const made = await storage.schemaStatus()
    print(made, options, io)
    return made.state === 'current' ? 0 : 1
  })
}

type Storage = Awaited<ReturnType<typeof openStorage>>

async function withStorage(
  options: SchemaOptions,
  io: CommandIO,
  work: (storage: Storage, database: DatabaseAddress) => Promise<ExitCode>,
): Promise<ExitCode> {
  const refuseMemory = 'would be lost when this command ends: give a file, or a URL'
  const database = databaseAddress(options, io.environment, { refuseMemory })
  const { prefix, schema, ids = {} } = options
  const storage = await openStorage(database, { prefix, schema, ids })
  try {
    const code = await Promise.race([work(storage, database), stopped(io)])
    await storage.close()
    return code
  } catch (error) {
    // A storage that cannot be used may not close either. The process ends anyway.
    storage.close().catch(() => undefined)
    throw databaseRefusal(database, error, ids)
  }
}

const REPORT_INTERVAL_MS = 10_000

async function migrate(storage: Storage, line: string, io: CommandIO): Promise<void> {
  const began = performance.now()
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`
  io.err(`forgelet: ${line}`)
  const reporting = setInterval(
    () => io.err(`forgelet: still running or waiting after ${seconds()}`),
    REPORT_INTERVAL_MS,
  )
  try {
    await storage.migrate()
  } finally {
    clearInterval(reporting)
  }
  io.err(`forgelet: done in ${seconds()}`)
}

function print({ state, warnings }: SchemaStatus, options: SchemaOptions, io: CommandIO): void {
  printResult(io, options, { state, warnings }, [state, ...warnings.map((warning) => `warning: ${warning}`)])
  if (!options.json && state !== 'current') io.err(`forgelet: ${FIXES[state]}`)
}

const FIXES: { readonly [S in Exclude<SchemaStatus['state'], 'current'>]: string } = {
  empty: 'there are no tables yet: run "forgelet schema apply"',
  outdated: 'the tables are older than this release needs: run "forgelet schema apply"',
  'too-new': 'the tables are for newer releases only: install a newer forgelet',
  drifted: 'a table, view or column is missing, or another object has its name: restore it, or choose another prefix',
}

/**
 * Settles only when the command is stopped. The running migration is then abandoned: it is applied completely or not at
 * all.
 */
async function stopped(io: CommandIO): Promise<never> {
  await toldToStop(io)
  throw new CommandError(
    3,
    'stopped before the end: no change is half applied; run "forgelet schema apply" again to continue',
  )
}

const DATABASE_KINDS = ['user', 'organization', 'repository', 'issue'] as const
const COLUMNS = ['bigint', 'uuid', 'text'] as const

/** Parses `--ids`. @throws CommandError (wrong usage) */
export function idColumns(text: string): IdColumns {
  return Object.assign({}, ...text.split(',').map((pair) => idColumn(text, pair)))
}

function idColumn(text: string, pair: string): IdColumns {
  const [kindNamed, columnNamed, ...others] = pair.split('=')
  const kind = DATABASE_KINDS.find((known) => known === kindNamed)
  const column = COLUMNS.find((known) => known === columnNamed)
  if (kind !== undefined && column !== undefined && others.length === 0) return { [kind]: column }
  throw new CommandError(
    2,
    `--ids ${text}: write a list such as user=uuid,issue=text, of the kinds ${DATABASE_KINDS.join(', ')} and the types ${COLUMNS.join(', ')}`,
  )
}
