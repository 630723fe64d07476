import { isForgeError } from '../index.ts'
import type { Finding } from '../standalone/standalone.ts'
import { inspectDatabase } from '../standalone/standalone.ts'
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

/**
 * Checks the database of `forgelet serve`, and prints a table of what was found and what to do.
 * @throws CommandError with the documented exit code
 */
export async function doctor(options: DoctorOptions, io: CommandIO): Promise<ExitCode> {
  const place = await existingDatabase(options, io.environment, 'is empty: name the database of "forgelet serve"')
  const findings = await inspected(place)
  if (options.json) io.out(JSON.stringify({ db: place.database.shown, findings: findings.map(asJson) }))
  else for (const line of table(findings)) io.out(line)
  return findings.some(({ advice }) => advice !== undefined) ? 1 : 0
}

async function inspected({ database, location }: ExistingDatabase): Promise<readonly Finding[]> {
  try {
    return await inspectDatabase(location)
  } catch (error) {
    const refusal = databaseRefusal(database, error)
    if (refusal instanceof CommandError || !isForgeError(error)) throw refusal
    throw new CommandError(3, `database ${database.shown} cannot be used: ${error.message}`)
  }
}

function asJson({ check, found, advice }: Finding): object {
  return { check, found, advice: advice ?? null }
}

const HEADINGS = { check: 'CHECK', found: 'FOUND', advice: 'WHAT TO DO' }

function table(findings: readonly Finding[]): readonly string[] {
  const rows = [HEADINGS, ...findings.map(({ check, found, advice = '-' }) => ({ check, found, advice }))]
  const widthOf = (column: 'check' | 'found'): number => Math.max(...rows.map((row) => row[column].length))
  const [left, middle] = [widthOf('check'), widthOf('found')]
  return rows.map(({ check, found, advice }) => `${check.padEnd(left)}  ${found.padEnd(middle)}  ${advice}`)
}
