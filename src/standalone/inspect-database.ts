import type { Finding } from './host-store/checks.ts'
import type { DatabaseLocation } from './host-store/open-host-database.ts'
import { onExistingDatabase } from './host-store/open-host-database.ts'

/**
 * Checks the database of a standalone host: the tables, the settings that decide whether data survives a crash, the
 * clock and the connections. Writes nothing.
 *
 * @returns what was found, and what to do about it
 * @throws ForgeError `STORAGE_UNAVAILABLE`, `STORAGE_BUSY` if the database cannot be reached or used
 */
export function inspectDatabase(location: DatabaseLocation): Promise<readonly Finding[]> {
  return onExistingDatabase(location, (database) => database.inspect())
}
