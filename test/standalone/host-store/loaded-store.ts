import { createForge } from '../../../src/index.ts'
import { hostMembership, hostPolicy } from '../../../src/standalone/host-ports.ts'
import type { HostDatabase } from '../../../src/standalone/host-store/host-database.ts'
import { SqlHostStore } from '../../../src/standalone/host-store/sql-host-store.ts'
import { seed } from './host-store-suite.ts'

/** Makes the tables in a database, and loads the world into the host's. */
export async function loadedStore<Tx>(database: HostDatabase<Tx>): Promise<SqlHostStore<Tx>> {
  const store = new SqlHostStore(database)
  await database.migrate()
  const forge = createForge({
    storage: database.storage,
    policy: hostPolicy(store),
    membership: hostMembership(store),
  })
  await database.load(forge, (session) => store.load(session, seed, []))
  return store
}
