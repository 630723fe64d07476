import { onServer, POSTGRES, SERVERS } from '../databases.ts'
import { KYSELY_POSTGRES, POSTGRES_JS } from './client-kinds.ts'
import { contractSuite, SHORT_FORM } from './contract-suite.ts'
import { storageKind } from './storage-kind.ts'

onServer(SERVERS.postgres, () => contractSuite(storageKind(POSTGRES)))
onServer(SERVERS.postgres, () => contractSuite(storageKind(KYSELY_POSTGRES), (name) => SHORT_FORM.test(name)))
onServer(SERVERS.postgres, () => contractSuite(storageKind(POSTGRES_JS), (name) => SHORT_FORM.test(name)))
