import { PGLITE, SQLITE, SQLITE_IN_MEMORY } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'
import { KYSELY_SQLITE } from './kysely-kinds.ts'

hostTransactions([SQLITE, SQLITE_IN_MEMORY, PGLITE, KYSELY_SQLITE])
