import { ForgeError } from '../../schema/errors.ts'

/** What our tables are: the number of their newest migration, and of the oldest library that may still use them. */
export interface SchemaVersion {
  readonly version: number
  readonly oldestLibrary: number
}

/** @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW` when a library of this schema cannot use the tables */
export function refuseUnusable(found: SchemaVersion | undefined, library: number): void {
  refuseTooNew(found, library)
  if (found === undefined || found.version < library) throw outdated(found, library)
}

/** The error for tables that a library of this schema has to migrate first. */
export function outdated(schema: SchemaVersion | undefined, needed: number): ForgeError<'SCHEMA_OUTDATED'> {
  const found = schema?.version ?? 0
  return new ForgeError('SCHEMA_OUTDATED', `the schema is at version ${found}, needed is ${needed}: migrate first`, {
    found,
    needed,
  })
}

/** @throws ForgeError `SCHEMA_TOO_NEW` when the tables are for newer libraries only */
export function refuseTooNew(found: SchemaVersion | undefined, library: number): void {
  if (found === undefined || found.oldestLibrary <= library) return

  const { version, oldestLibrary } = found
  const message = `the schema is at version ${version}, which this library (${library}) cannot use: install a newer one`
  throw new ForgeError('SCHEMA_TOO_NEW', message, { found: version, oldestLibrary })
}
