import type { SchemaStatus } from '../storage/storage.ts'
import type { ExitCode } from './command-error.ts'
import { CommandError } from './command-error.ts'
import { databaseRefusal } from './database-refusal.ts'
import type { SchemaOptions } from './schema-options.ts'
import { openStorage, planSchema } from './schema-storage.ts'
import type { Terminal } from './terminal.ts'

/**
 * Looks at the tables of a database, writes down how they are made, or brings them up to date.
 * @throws CommandError with the documented exit code
 */
export async function schema(options: SchemaOptions, terminal: Terminal): Promise<ExitCode> {
  if (options.action === 'plan') return plan(options, terminal)

  const storage = await openStorage(options)
  try {
    const run = options.action === 'status' ? status : apply
    const code = await Promise.race([run(storage, options, terminal), stopped(terminal.stop)])
    await storage.close()
    return code
  } catch (error) {
    // A storage that cannot be used may not end either; the process does.
    storage.close().catch(() => undefined)
    throw databaseRefusal(options.database.shown, error, options.ids)
  }
}

type Storage = Awaited<ReturnType<typeof openStorage>>

async function plan(options: SchemaOptions, terminal: Terminal): Promise<ExitCode> {
  const statements = await planSchema(options)
  if (options.json) terminal.out(JSON.stringify({ statements }))
  else for (const statement of statements) terminal.out(`${statement};`)
  return 0
}

async function status(storage: Storage, { json }: SchemaOptions, terminal: Terminal): Promise<ExitCode> {
  const found = await storage.schemaStatus()
  tell(found, json, terminal)
  return found.state === 'current' && found.warnings.length === 0 ? 0 : 1
}

async function apply(storage: Storage, { database, json }: SchemaOptions, terminal: Terminal): Promise<ExitCode> {
  const { state } = await storage.schemaStatus()
  if (state === 'current') terminal.err(`forgelet: the schema of ${database.shown} is up to date already`)
  else await migrate(storage, `the schema of ${database.shown} is ${state}: bringing it up to date`, terminal)

  const made = await storage.schemaStatus()
  tell(made, json, terminal)
  return made.state === 'current' ? 0 : 1
}

const TELL_EVERY = 10_000

async function migrate(storage: Storage, line: string, terminal: Terminal): Promise<void> {
  const began = performance.now()
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`
  terminal.err(`forgelet: ${line}`)
  const telling = setInterval(() => terminal.err(`forgelet: still at it, or waiting, after ${seconds()}`), TELL_EVERY)
  try {
    await storage.migrate()
  } finally {
    clearInterval(telling)
  }
  terminal.err(`forgelet: done in ${seconds()}`)
}

function tell({ state, warnings }: SchemaStatus, json: boolean, terminal: Terminal): void {
  if (json) {
    terminal.out(JSON.stringify({ state, warnings }))
    return
  }
  terminal.out(state)
  for (const warning of warnings) terminal.out(`warning: ${warning}`)
  if (state !== 'current') terminal.err(`forgelet: ${MENDS[state]}`)
}

const MENDS: { readonly [S in Exclude<SchemaStatus['state'], 'current'>]: string } = {
  empty: 'there are no tables yet: run "forgelet schema apply"',
  outdated: 'the tables are older than this release needs: run "forgelet schema apply"',
  'too-new': 'the tables are for newer releases only: install a newer forgelet',
  drifted:
    'a table, view, column, index or trigger is missing, or others have its name: bring back what was there, or choose another prefix',
}

/** Never settles unless the command is told to stop: then what runs is left, all or nothing of it done. */
async function stopped(stop: AbortSignal): Promise<never> {
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
  throw new CommandError(3, 'stopped before the end: nothing is half done; the next "forgelet schema apply" goes on')
}
