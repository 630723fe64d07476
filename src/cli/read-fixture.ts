import { dirname, resolve } from 'node:path'
import { isForgeError } from '../index.ts'
import type { Fixture, FixtureLimits } from '../standalone/standalone.ts'
import { parseFixture } from '../standalone/standalone.ts'
import { CommandError, counted } from './command.ts'
import { readDataFile } from './read-data-file.ts'

/** A fixture that was read from a file. */
export interface FixtureFile {
  /** Without the signing key, which is opened before the database. */
  readonly fixture: Fixture
  /** The file of the signing key, if the fixture names one. */
  readonly keys: readonly string[]
}

/**
 * Reads and validates a fixture file: JSON, or YAML if it ends in `.yaml` or `.yml`. The path of its signing key is
 * relative to the fixture file.
 * @throws CommandError (invalid input) that names the file and every mistake
 */
export async function readFixture(file: string, limits: FixtureLimits): Promise<FixtureFile> {
  const value = await readDataFile('fixture', file, 1)
  try {
    const { signingKey, ...fixture } = parseFixture(value, limits)
    return { fixture, keys: signingKey === undefined ? [] : [resolve(dirname(file), signingKey.file)] }
  } catch (error) {
    if (!isForgeError(error, 'INVALID_INPUT')) throw error
    const { violations } = error.details
    throw new CommandError(1, `fixture ${file} has ${counted(violations.length, 'mistake')}`, violations)
  }
}
