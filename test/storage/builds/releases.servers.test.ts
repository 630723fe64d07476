import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import { onServer } from '../databases/servers.ts'
import { MARIADB, newDatabase, POSTGRES } from '../sql/server/server-databases.ts'
import { buildReleases, closing, releaseCases } from './release-cases.ts'

const releases = buildReleases()

for (const kind of [POSTGRES, MARIADB]) {
  onServer(kind.server, (url) =>
    releaseCases(async () => {
      const database = await newDatabase(kind, url)
      return (release) => {
        const { postgresStorage, mysqlStorage } = releases()[release]
        const storage = kind === POSTGRES ? postgresStorage(database.url) : mysqlStorage(database.url)
        return closing(storage as ForgeStorage<unknown>)
      }
    }),
  )
}
