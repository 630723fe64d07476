import { mariadbKind } from '../databases/mariadb.ts'
import { onServer, SERVERS } from '../databases/servers.ts'
import { catchAll } from './catch-all.ts'
import { faultyMariadb } from './sql-assembly.ts'

onServer(SERVERS.mariadb, (url) => catchAll('MariaDB', (fault) => mariadbKind(url, fault && faultyMariadb(fault))))
