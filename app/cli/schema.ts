import type { Command } from '@commander-js/extra-typings'
import type { SchemaStatus, SqlDialectName } from 'forgelet/storage'
import type { IdColumns, SchemaStorageOptions } from 'forgelet/storage/postgres'
import type { HostDatabase } from '../standalone/host-store/host-database.ts'
import type { DatabaseStatus, TableOptions } from '../standalone/host-store/open-host-database.ts'
import { databaseStatus, withHostDatabase } from '../standalone/host-store/open-host-database.ts'
import type { CommandIO, ResultOptions } from './command.ts'
import { CommandError, newCommand, printable, printResult, toldToStop } from './command.ts'
import type { Database } from './database.ts'
import { CREATION, databaseOf, existingDatabase, inDatabase, onDatabase } from './database.ts'
import { readDataFile } from './files.ts'

const STATUS = `
  forgelet schema status --db forgelet.sqlite --json

It prints current, outdated, too-new, drifted or empty, and warnings.`

const PLAN = `
  forgelet schema plan --db postgres:// --schema forge --ids user=uuid > forgelet.sql`

const APPLY = `
  forgelet schema apply --db postgres://forge@db.example.com/forge

An empty database gets the tables for an application alone: "forgelet serve" makes its own.`

/** Adds what works on the tables of the forge. */
export function addSchema(parent: Command, io: CommandIO): void {
  const status = newCommand(parent, 'status', 'show the state of the tables, and settings that endanger data', STATUS)
  withIds(status).action(async (options) => {
    const database = existingDatabase(options, io)
    const { forge } = await onDatabase(database, async () => databaseStatus(database, await tablesIn(options)))
    report(forge, options, io)
  })
  const plan = newCommand(parent, 'plan', 'print the SQL that creates the tables, without a connection', PLAN)
  withIds(plan).action(async (options) => {
    const database = databaseOf(options, io)
    const { prefix, schema } = options
    const statements = await onDatabase(database, async () =>
      (await SCHEMA_PLANS[database.kind]())({ prefix, schema, ...(await tablesIn(options)) }),
    )
    const lines = statements.map((statement) => asScript(database.kind, statement))
    printResult(io, options, { statements }, lines)
  })
  const apply = newCommand(parent, 'apply', 'create or update the tables, also while they are in use', APPLY)
  withIds(apply).action(async (options) => {
    const database = databaseOf(options, io)
    const tables = await tablesIn(options)
    const migrated = async ({ storage }: HostDatabase): Promise<SchemaStatus> => {
      await storage.migrate()
      return storage.schemaStatus()
    }
    // What is not committed when the command is stopped is rolled back.
    const stopped = toldToStop(io).then(() => {
      throw new CommandError(3, 'stopped before the end: no change is half applied; run the same command again')
    })
    const applying = () => Promise.race([withHostDatabase(database, migrated, tables), stopped])
    report(await onDatabase(database, applying), options, io)
  })
}

const DOCTOR = `
  forgelet doctor --db forgelet.sqlite --full
  forgelet doctor --db postgres://forge@db.example.com/forge --json

The database may be that of an application.`

/** Adds `forgelet doctor`: the state of all tables in a database, the settings that endanger its data, and what to do. */
export function addDoctor(program: Command, io: CommandIO): void {
  const description = 'check the database of "forgelet serve" or of an application, without changing it'
  const doctor = withIds(newCommand(program, 'doctor', description, DOCTOR))
  doctor.option('--full', 'compare each index with its table too, on SQLite; takes longer').action(async (options) => {
    const database = existingDatabase(options, io)
    if (options.full && database.kind !== 'sqlite') throw new CommandError(2, '--full is for SQLite: leave it out')
    const { problems, status } = await onDatabase(database, () => examine(database, options))
    const lines = [
      ...(status === undefined ? [] : statusLines(status)),
      ...problems.map((text) => `problem: ${printable(text)}`),
      ...(problems.length === 0 ? [] : [REPAIR]),
    ]
    printResult(io, options, { db: database.shown, ...status, problems }, lines)
    if (problems.length > 0 || status === undefined || !isInOrder(status)) io.exitCode = 1
  })
}

const REPAIR =
  'to do: restore a backup in which doctor finds no problem; a file that cannot be written: correct its permissions'

/** Reads a file, and the state of its tables. A damaged file may have none that can be read. */
async function examine(database: Database, options: TableFlags & { readonly full?: true | undefined }) {
  const { sqliteFileProblems } = await import('forgelet/storage/sqlite')
  const check = options.full ? 'integrity_check' : 'quick_check'
  const problems = database.kind === 'sqlite' ? await sqliteFileProblems(database.db, check) : []
  const status = await databaseStatus(database, await tablesIn(options)).catch((error: unknown) => {
    if (problems.length === 0) throw error
  })
  return { problems, status: status ?? undefined }
}

function statusLines({ forge, server }: DatabaseStatus): readonly string[] {
  const described = (state: State) => (state === 'current' ? state : `${state}: ${WHAT_TO_DO[state]}`)
  const ofServer = isOfApplication({ forge, server }) ? 'none: it is the forge of an application' : described(server)
  return [
    `tables of the forge:  ${described(forge.state)}`,
    `tables of the server: ${ofServer}`,
    ...forge.warnings.map(asWarning),
  ]
}

function isInOrder(status: DatabaseStatus): boolean {
  return isWell(status.forge) && (isOfApplication(status) || status.server === 'current')
}

/** An application has its users and issues in tables of its own. */
function isOfApplication({ forge, server }: DatabaseStatus): boolean {
  return server === 'empty' && forge.state !== 'empty'
}

/** Adds the options that find the tables of a forge. */
function withIds(command: Command<[], ResultOptions>) {
  return inDatabase(command).option('--ids <list>', IDS, idColumns).option('--tables <file>', TABLES)
}

/** What says how the tables of a forge are made. */
interface TableFlags {
  readonly ids?: IdColumns | undefined
  readonly tables?: string | undefined
}

/** Reads the file of `--tables`. The storage checks what it describes. @throws CommandError if it cannot be read */
export async function tablesIn({ ids, tables: file }: TableFlags): Promise<TableOptions> {
  if (file === undefined) return { ids }
  const tables = await readDataFile('--tables', file, 2)
  if (typeof tables === 'object' && tables !== null) return { ids, tables }
  throw new CommandError(2, `--tables ${file}: write an object such as { "users": { "table": "users" } }`)
}

/** The `mariadb` command would end a statement at the first semicolon of a trigger. */
function asScript(kind: SqlDialectName, statement: string): string {
  const hasBody = kind === 'mariadb' && /^create trigger /i.test(statement)
  return hasBody ? `delimiter //\n${statement}//\ndelimiter ;` : `${statement};`
}

/** What `--tables` is. */
export const TABLES = 'JSON file that describes the tables of the application, as the option tables does'
/** What `--ids` is. */
export const IDS = 'column types of ids, such as user=uuid,issue=text (default: bigint)'
const ID_COLUMN = '(user|organization|repository|issue)=(bigint|uuid|text)'

/** Parses `--ids`, such as `user=uuid,issue=text`. @throws CommandError (wrong usage) */
export function idColumns(text: string): IdColumns {
  if (new RegExp(`^${ID_COLUMN}(,${ID_COLUMN})*$`).test(text)) {
    return Object.fromEntries(text.split(',').map((pair) => pair.split('=')))
  }
  throw new CommandError(2, `--ids ${text}: write a list such as user=uuid,issue=text, of ${ID_COLUMN}`)
}

/** The plan for each kind of database. Loads no driver. */
const SCHEMA_PLANS: {
  readonly [K in SqlDialectName]: () => Promise<(options: SchemaStorageOptions) => readonly string[]>
} = {
  sqlite: async () => (await import('forgelet/storage/sqlite')).sqliteSchemaPlan,
  postgres: async () => (await import('forgelet/storage/postgres')).postgresSchemaPlan,
  mariadb: async () => (await import('forgelet/storage/mariadb')).mariadbSchemaPlan,
}

function report(status: SchemaStatus, options: ResultOptions, io: CommandIO): void {
  const { state, warnings } = status
  printResult(io, options, { state, warnings }, [state, ...warnings.map(asWarning)])
  if (!options.json && state !== 'current') io.err(`forgelet: ${WHAT_TO_DO[state]}`)
  if (!isWell(status)) io.exitCode = 1
}

function isWell({ state, warnings }: SchemaStatus): boolean {
  return state === 'current' && warnings.length === 0
}

function asWarning(text: string): string {
  return `warning: ${text}`
}

type State = SchemaStatus['state']

const WHAT_TO_DO: { readonly [S in Exclude<State, 'current'>]: string } = {
  empty: `there are no tables: ${CREATION}, or name another database`,
  outdated: `the tables are older than this release needs: ${CREATION}`,
  'too-new': 'the tables are for newer releases only: install a newer forgelet',
  incomplete: 'a copy into them has not ended: if it was interrupted, copy again with "forgelet copy --empty"',
  drifted:
    'a table, view or column is missing, or another object has its name: see the warnings, or restore it from a copy',
}
