import { isForgeError } from '../index.ts'
import type { Finding } from '../standalone/standalone.ts'
import { inspectDatabase } from '../standalone/standalone.ts'
import type { CommandIO, Environment, ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import type { DatabaseAddress } from './database.ts'
import { databaseAddress, databaseRefusal } from './database.ts'
import type { OptionValues } from './options.ts'
import { refuseWrongPlace } from './storage-kinds.ts'

/**
 * Checks the database of `forgelet serve`, and prints a table of what was found and what to do.
 * @throws CommandError with the documented exit code
 */
export async function doctor({ database, location, json }: DoctorOptions, io: CommandIO): Promise<ExitCode> {
  await refuseWrongPlace(database, location)
  const findings = await inspected(database, location)
  if (json) io.out(JSON.stringify({ db: database.shown, findings: findings.map(asJson) }))
  else for (const line of table(findings)) io.out(line)
  return findings.some(({ advice }) => advice !== undefined) ? 1 : 0
}

async function inspected(database: DatabaseAddress, location: DoctorOptions['location']): Promise<readonly Finding[]> {
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

/** The checked options of `forgelet doctor`. */
export interface DoctorOptions {
  readonly database: DatabaseAddress
  readonly location: Parameters<typeof inspectDatabase>[0]
  readonly json: boolean
}

/**
 * Checks the options of `forgelet doctor`.
 * @throws CommandError (wrong usage)
 */
export function doctorOptions(words: readonly string[], values: OptionValues, environment: Environment): DoctorOptions {
  if (words.length > 0) throw new CommandError(2, `unexpected argument "${words[0]}": options start with "--"`)

  const database = databaseAddress(values, environment, {
    refuseMemory: 'is empty: name the database of "forgelet serve"',
  })
  return {
    database,
    location: { db: database.location, prefix: values.prefix, schema: values.schema },
    json: values.json === true,
  }
}
