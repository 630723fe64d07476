import Database from 'better-sqlite3'
import { describe, test } from 'vitest'
import { createForge } from '../../../../src/index.ts'
import { sqliteStorage } from '../../../../src/storage/sqlite.ts'
import { driverCases } from '../../../runtimes/driver-cases.mjs'

/** As other drivers do, it runs statements while one is open. */
class Lenient extends Database {
  constructor(file: string, options?: Database.Options) {
    super(file, options)
    this.unsafeMode(true)
  }
}

// The other drivers run these cases on their own runtimes.
describe.each([
  ['better-sqlite3', Database],
  ['a driver that lets statements be', Lenient],
])('on %s', (_name, Driver) => {
  const open = (file: string, wanted: { readonly readOnly?: boolean; readonly bigints?: boolean } = {}) =>
    new Driver(file, { timeout: 0, readonly: wanted.readOnly ?? false }).defaultSafeIntegers(wanted.bigints ?? false)
  const driver = { name: 'better-sqlite3', Database: Driver, open }

  for (const { name, run } of driverCases({ forgelet: { createForge, sqliteStorage }, driver })) test(name, run)
})
