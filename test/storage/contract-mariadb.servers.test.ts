import { MARIADB, onServer, SERVERS } from '../databases.ts'
import { contractSuite, isBeforeEachChange, SHORT_FORM } from './contract-suite.ts'
import { KYSELY_MARIADB } from './kysely-kinds.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.mariadb, () => contractSuite(storageKind(MARIADB), isBeforeEachChange))
onServer(SERVERS.mariadb, () =>
  contractSuite(storageKind(KYSELY_MARIADB), (name) => SHORT_FORM.test(name) && isBeforeEachChange(name)),
)
