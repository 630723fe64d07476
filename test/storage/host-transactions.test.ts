import { PGLITE, SQLITE, SQLITE_IN_MEMORY } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'

hostTransactions([SQLITE, SQLITE_IN_MEMORY, PGLITE])
