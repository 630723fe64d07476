import { SQLITE_IN_MEMORY } from '../databases.ts'
import { KYSELY_MARIADB, KYSELY_POSTGRES } from './client-kinds.ts'
import { hostTransactions } from './host-transactions.ts'

hostTransactions([SQLITE_IN_MEMORY, KYSELY_POSTGRES, KYSELY_MARIADB])
