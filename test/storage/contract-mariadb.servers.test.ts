import { MARIADB, onServer, SERVERS } from '../databases.ts'
import { KYSELY_MARIADB, MARIADB_CONNECTOR } from './client-kinds.ts'
import { contractSuite, isBeforeEachChange, QUICK_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.mariadb, () => contractSuite(storageKind(MARIADB), isBeforeEachChange))
onServer(SERVERS.mariadb, () => {
  contractSuite(storageKind(KYSELY_MARIADB), (name, names) => QUICK_FORM.test(name) && isBeforeEachChange(name, names))
  contractSuite(
    storageKind(MARIADB_CONNECTOR),
    (name, names) => QUICK_FORM.test(name) && isBeforeEachChange(name, names),
  )
})
