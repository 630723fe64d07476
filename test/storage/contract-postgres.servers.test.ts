import { onServer, POSTGRES, SERVERS } from '../databases.ts'
import { KYSELY_POSTGRES, POSTGRES_JS } from './client-kinds.ts'
import { contractSuite, isBeforeEachChange, SHORT_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.postgres, () => contractSuite(storageKind(POSTGRES), isBeforeEachChange))
onServer(SERVERS.postgres, () => {
  const isShort = (name: string) => SHORT_FORM.test(name) && isBeforeEachChange(name)
  contractSuite(storageKind(KYSELY_POSTGRES), isShort)
  contractSuite(storageKind(POSTGRES_JS), isShort)
})
