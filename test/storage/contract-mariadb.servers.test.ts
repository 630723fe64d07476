import { MARIADB, onServer, SERVERS } from '../databases.ts'
import { KYSELY_MARIADB, MARIADB_CONNECTOR } from './client-kinds.ts'
import { contractSuite, isBeforeEachChange, SHORT_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.mariadb, () => contractSuite(storageKind(MARIADB), isBeforeEachChange))
onServer(SERVERS.mariadb, () => {
  const isShort = (name: string) => SHORT_FORM.test(name) && isBeforeEachChange(name)
  contractSuite(storageKind(KYSELY_MARIADB), isShort)
  contractSuite(storageKind(MARIADB_CONNECTOR), isShort)
})
