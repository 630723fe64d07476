import { MARIADB, POSTGRES } from '../databases.ts'
import { KYSELY_MARIADB, KYSELY_POSTGRES } from './client-kinds.ts'
import { hostTransactions } from './host-transactions.ts'

hostTransactions([POSTGRES, MARIADB, KYSELY_POSTGRES, KYSELY_MARIADB])
