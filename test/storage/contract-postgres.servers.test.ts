import { onServer, POSTGRES, SERVERS } from '../databases.ts'
import { contractSuite, isBeforeEachChange, SHORT_FORM } from './contract-suite.ts'
import { KYSELY_POSTGRES } from './kysely-kinds.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.postgres, () => contractSuite(storageKind(POSTGRES), isBeforeEachChange))
onServer(SERVERS.postgres, () =>
  contractSuite(storageKind(KYSELY_POSTGRES), (name) => SHORT_FORM.test(name) && isBeforeEachChange(name)),
)
