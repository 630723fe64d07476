import { onServer, POSTGRES, SERVERS } from '../databases.ts'
import { KYSELY_POSTGRES, POSTGRES_JS } from './client-kinds.ts'
import { contractSuite, isBeforeEachChange, QUICK_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.postgres, () => contractSuite(storageKind(POSTGRES), isBeforeEachChange))
onServer(SERVERS.postgres, () => {
  contractSuite(storageKind(KYSELY_POSTGRES), (name, names) => QUICK_FORM.test(name) && isBeforeEachChange(name, names))
  contractSuite(storageKind(POSTGRES_JS), (name, names) => QUICK_FORM.test(name) && isBeforeEachChange(name, names))
})
