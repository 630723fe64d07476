import * as kysely27 from 'kysely27'
import * as kysely29 from 'kysely29'
import { describe } from 'vitest'
import { onServer, PGLITE, SERVERS, SQLITE_IN_MEMORY } from '../databases.ts'
import type { HostTables } from './client-kinds.ts'
import {
  hostPool,
  KYSELY_MARIADB,
  KYSELY_POSTGRES,
  MARIADB_CONNECTOR,
  overKysely,
  POSTGRES_JS,
} from './client-kinds.ts'
import { contractSuite, QUICK_FORM } from './contract-suite.ts'
import { LIBRARIES, throughLibrary } from './library-kinds.ts'
import { storageKind } from './storage-kind.ts'

describe('SQLite in memory', () => contractSuite(storageKind(SQLITE_IN_MEMORY)))
describe('PGlite', () => contractSuite(storageKind(PGLITE), (name) => !QUICK_FORM.test(name)))
onServer(SERVERS.mariadb, () => {
  contractSuite(storageKind(KYSELY_MARIADB), (name) => !QUICK_FORM.test(name))
  describe('npm mariadb', () => contractSuite(storageKind(MARIADB_CONNECTOR), (name) => !QUICK_FORM.test(name)))
})

for (const library of LIBRARIES.map(throughLibrary)) {
  const suite = () => contractSuite(storageKind(library), (name) => /host’s transaction/.test(name))
  describe(`transactions of ${library.name}`, () => onServer(library.server, suite))
}

/** What there is of the contract about a host's transactions, and enough of the rest. */
const OF_OTHER_VERSIONS =
  /host’s transaction|of a block (returns|writes|passes|is invisible)|visible|consistently|number|two storages in one database/

onServer(SERVERS.postgres, () => {
  contractSuite(storageKind(KYSELY_POSTGRES), (name) => !QUICK_FORM.test(name))
  describe('postgres.js', () => contractSuite(storageKind(POSTGRES_JS), (name) => !QUICK_FORM.test(name)))

  // 0.29 is for Node 22 and newer, and runs on the older one that we begin with.
  describe.each([
    ['0.27', kysely27],
    ['0.29', kysely29 as unknown as typeof kysely27],
  ])('Kysely %s', (_version, { Kysely, PostgresDialect, CamelCasePlugin }) => {
    const kind = overKysely('postgres', (url) => {
      const dialect = new PostgresDialect({ pool: hostPool(url) })
      return new Kysely<HostTables>({ dialect, plugins: [new CamelCasePlugin()] })
    })
    contractSuite(storageKind(kind), (name) => OF_OTHER_VERSIONS.test(name))
  })
})
