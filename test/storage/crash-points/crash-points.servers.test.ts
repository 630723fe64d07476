import { mariadbKind, onServer, postgresKind, SERVERS } from '../../databases.ts'
import { faultyMariadb, faultyPostgres } from '../planted/sql-assembly.ts'
import { storageKind } from '../storage-kind.ts'
import { crashEverywhere } from './crash-points.ts'

onServer(SERVERS.postgres, () => crashEverywhere((fault) => storageKind(postgresKind(faultyPostgres(fault)))))
onServer(SERVERS.mariadb, () => crashEverywhere((fault) => storageKind(mariadbKind(faultyMariadb(fault)))))
