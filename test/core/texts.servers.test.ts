import { mariadbKind } from '../storage/databases/mariadb.ts'
import { postgresKind } from '../storage/databases/postgres.ts'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import { textsOn } from './texts-suite.ts'

onServer(SERVERS.postgres, (url) => textsOn(postgresKind(url)))
onServer(SERVERS.mariadb, (url) => textsOn(mariadbKind(url)))
