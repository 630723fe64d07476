import { MARIADB, POSTGRES } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'
import { KYSELY_MARIADB, KYSELY_POSTGRES } from './kysely-kinds.ts'

hostTransactions([POSTGRES, MARIADB, KYSELY_POSTGRES, KYSELY_MARIADB])
