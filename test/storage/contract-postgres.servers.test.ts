import { onServer, POSTGRES, SERVERS } from '../databases.ts'
import { KYSELY_POSTGRES, POSTGRES_JS } from './client-kinds.ts'
import { contractSuite, isBeforeEachChange, SHORT_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.postgres, () => contractSuite(storageKind(POSTGRES), isBeforeEachChange))
onServer(SERVERS.postgres, () => {
  for (const kind of [KYSELY_POSTGRES, POSTGRES_JS]) {
    contractSuite(storageKind(kind), (name) => SHORT_FORM.test(name) && isBeforeEachChange(name))
  }
})
